import { Rows } from "../../sql/rows.ts";
import { utcDay } from "../../../runtime/zone.ts";
import type { AnswerGroup, DayTally } from "./day-tally.ts";
import { readRow } from "../../sql/columns.ts";
import type { SqlRow } from "../../sql/database.ts";
import { responsesBy } from "../../sql/lists/counted-lists.ts";
import { listDays } from "../../sql/lists/list-counts.ts";
import type { Project } from "../inputs.ts";

export interface ShareRow {
  readonly project: Project;
  readonly id: number;
  readonly name: string;
  readonly tokenHash: string;
  readonly trendId: number | null;
  readonly segments: readonly string[];
  readonly showsComments: boolean;
  readonly createdAt: number;
  /** Unix seconds; null for never. */
  readonly expiresAt: number | null;
}

export interface DayRange {
  readonly first: number | null;
  readonly last: number;
}

export interface SharedDay {
  readonly day: number;
  readonly rowCount: number;
  /** The cached tally; null if one of the day's responses was added, deleted or changed. */
  readonly tally: DayTally | null;
}

const SHARE = `SELECT p.id AS "project.id", p.name AS "project.name", s.id, s.name, s.token_hash AS "tokenHash",
  s.trend_id AS "trendId", s.segments, s.shows_comments AS "showsComments", s.created_at AS "createdAt", s.expires_at AS "expiresAt"
  FROM shares s JOIN projects p ON p.id = s.project_id`;

/** Changing a response deletes the cached tally of its day in the same transaction. */
export class ShareRows extends Rows {
  async insert(
    project: number,
    { name, tokenHash, trendId, segments, showsComments, expiresAt }: Omit<ShareRow, "project" | "id" | "createdAt">,
  ): Promise<number> {
    const id = await this.nextId(project);
    this.database.send(
      `INSERT INTO shares (project_id, id, name, token_hash, trend_id, segments, shows_comments, created_at, expires_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        project,
        id,
        name,
        tokenHash,
        trendId,
        JSON.stringify(segments),
        Number(showsComments),
        this.session.now,
        expiresAt,
      ],
    );
    return id;
  }

  async list(project: number): Promise<readonly ShareRow[]> {
    return (await this.database.all(`${SHARE} WHERE s.project_id = ? ORDER BY s.id`, [project])).map(toShare);
  }

  async delete(project: number, id: number): Promise<void> {
    this.database.send("DELETE FROM shares WHERE project_id = ? AND id = ?", [project, id]);
  }

  async byTokenHash(hash: string): Promise<ShareRow | null> {
    const row = await this.database.first(`${SHARE} WHERE s.token_hash = ?`, [hash]);
    return row === null ? null : toShare(row);
  }

  async days({ project, id, trendId }: ShareRow, { first, last }: DayRange): Promise<readonly SharedDay[]> {
    const days = await listDays(this.database, responsesBy(project.id, trendId, "created_at"), {
      first: first ?? 0,
      last,
    });
    const rows = await this.database.all(
      "SELECT day, tally FROM share_days WHERE project_id = ? AND share_id = ? AND day >= ? AND day <= ?",
      [project.id, id, first ?? 0, last],
    );
    const kept = new Map(rows.map(({ day, tally }) => [Number(day), JSON.parse(String(tally)) as DayTally]));
    return days.map(({ day, rowCount }) => ({ day, rowCount, tally: kept.get(day) ?? null }));
  }

  async answers(
    { project, trendId, segments }: ShareRow,
    { since, until }: { readonly since: number; readonly until: number },
  ): Promise<readonly AnswerGroup[]> {
    const inTrend = "JOIN trend_responses t ON t.project_id = r.project_id AND t.response_id = r.id AND t.trend_id = ?";
    const rows = await this.database.all(
      `SELECT r.score, ${segments.length === 0 ? "'{}'" : "r.person_properties"} AS properties, count(*) AS count,
        count(*) FILTER (WHERE r.comment IS NOT NULL AND trim(r.comment) <> '') AS commented
      FROM responses r ${trendId === null ? "" : inTrend}
      WHERE r.project_id = ? AND r.created_at >= ? AND r.created_at <= ? AND r.survey_type = 'nps' GROUP BY 1, 2`,
      [...(trendId === null ? [] : [trendId]), project.id, since, until],
    );
    return rows.map((row) => readRow<AnswerGroup>(row, { json: ["properties"] }));
  }

  /** Must be called in the transaction that read the day's answers, with the project locked. */
  async keepDay({ project, id }: ShareRow, day: number, tally: DayTally): Promise<void> {
    this.database.send(
      `INSERT INTO share_days (project_id, day, share_id, tally) VALUES (?, ?, ?, ?)
          ON CONFLICT (project_id, day, share_id) DO UPDATE SET tally = excluded.tally`,
      [project.id, day, id, JSON.stringify(tally)],
    );
  }

  /** Deletes the cached tallies of the days that these times (Unix seconds) fall on. */
  async forgetDays(project: number, times: readonly number[]): Promise<void> {
    for (const day of new Set(times.map(utcDay)))
      this.database.send("DELETE FROM share_days WHERE project_id = ? AND day = ?", [project, day]);
  }
}

function toShare(row: SqlRow): ShareRow {
  return readRow<ShareRow>(row, { json: ["segments"], flags: ["showsComments"] });
}
