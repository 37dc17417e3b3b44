import type { LastAnswer, StoredPastPerson } from "./rows.ts";
import type { NewPastResponse, StoredPastResponse } from "../answers/response-columns.ts";
import { allIn, type Database, type Session, type SqlValue } from "../../sql/database.ts";
import { Rows } from "../../sql/rows.ts";
import { sendRow, updateRows } from "../../sql/lists/counted-rows.ts";
import { assignPerson, PERSON, type PersonRow, personRow } from "../people/person-columns.ts";
import { assignResponse, RESPONSE, responseRow } from "../answers/response-columns.ts";

export class HistoryRows extends Rows {
  readonly #tokens: (count: number) => readonly string[];

  constructor(database: Database, session: Session, tokens: (count: number) => readonly string[]) {
    super(database, session);
    this.#tokens = tokens;
  }

  /** Makes sure that new ids are larger than this one. Returns the first id that was free. */
  async reserve(project: number, id: number): Promise<number> {
    const state = await this.database.state(project);
    const free = state.nextId;
    state.nextId = Math.max(free, id + 1);
    return free;
  }

  async newId(project: number): Promise<number> {
    return this.nextId(project);
  }

  async people(
    project: number,
    column: "id" | "email_key" | "phone_number",
    values: readonly SqlValue[],
  ): Promise<readonly PersonRow[]> {
    const sql = `${PERSON} AND ${column} IN`;
    return (await allIn(this.database, sql, [project], [...new Set(values)])) as unknown as PersonRow[];
  }

  /** The time up to which each person's row reflects answers. Cheaper than whole rows. */
  async markedUpTo(project: number, ids: readonly number[]): Promise<ReadonlyMap<number, number>> {
    const sql = `SELECT id, last_responded_at AS answered, last_sent_at AS sent FROM people
         WHERE project_id = ? AND removed = 0 AND id IN`;
    const rows = await allIn(this.database, sql, [project], [...new Set(ids)]);
    return new Map(
      rows.map(({ id, answered, sent }) => [Number(id), Math.min(Number(answered ?? -1), Number(sent ?? -1))]),
    );
  }

  async insertPeople(project: number, rows: readonly Omit<PersonRow, "nextSurveyAt">[]): Promise<void> {
    for (const person of rows) sendRow(this.database, "people", personRow(project, { ...person, nextSurveyAt: null }));
  }

  async replacePerson(project: number, { id, writes: _writes, ...person }: StoredPastPerson): Promise<void> {
    const set = assignPerson(person);
    await updateRows(this.database, "people", set, ["project_id = ? AND id = ?", project, id]);
  }

  async responses(project: number, ids: readonly number[]): Promise<readonly StoredPastResponse[]> {
    return (await allIn(this.database, `${RESPONSE} AND id IN`, [project], ids)) as unknown as StoredPastResponse[];
  }

  async findResponse(project: number, personId: number, createdAt: number, score: number): Promise<number | null> {
    const values = [project, personId, createdAt, score];
    const sql = "SELECT id FROM responses WHERE project_id = ? AND person_id = ? AND created_at = ? AND score = ?";
    return ((await this.database.first(`${sql} ORDER BY id LIMIT 1`, values))?.id as number | undefined) ?? null;
  }

  async insertResponses(project: number, rows: readonly NewPastResponse[]): Promise<void> {
    const tokens = this.#tokens(rows.length);
    for (const [index, { permalink = null, ...row }] of rows.entries()) {
      const origin = { requestId: null, token: tokens[index]!, permalink, origin: null };
      sendRow(this.database, "responses", responseRow(project, row, origin));
    }
  }

  async replaceResponse(project: number, { id, permalink, ...columns }: NewPastResponse): Promise<void> {
    const set = assignResponse(columns, permalink ?? null);
    await updateRows(this.database, "responses", set, ["project_id = ? AND id = ?", project, id]);
  }

  async markAnswered(project: number, rows: readonly LastAnswer[]): Promise<void> {
    for (const { id, at } of rows)
      this.database.send(
        `UPDATE people SET
           last_responded_at = CASE WHEN last_responded_at >= ? THEN last_responded_at ELSE ? END,
           last_sent_at = CASE WHEN last_sent_at >= ? THEN last_sent_at ELSE ? END
         WHERE project_id = ? AND id = ? AND (coalesce(last_responded_at, -1) < ? OR coalesce(last_sent_at, -1) < ?)`,
        [at, at, at, at, project, id, at, at],
      );
  }
}
