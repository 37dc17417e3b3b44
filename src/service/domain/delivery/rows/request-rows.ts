import { Rows } from "../../../sql/rows.ts";
import type { Properties } from "../../../../contract/resources.ts";
import type { NewRequest, SurveyLink, PageFacts } from "../rows.ts";
import { deleteRequests, IS_WAITING, noteErased, refreshNextSurvey } from "./claims.ts";
import { numberOrNull } from "../../../sql/database.ts";
import { readRow } from "../../../sql/columns.ts";
import { readPageFacts } from "./page-facts.ts";
import { addCondition, whereSql, type Where } from "../../../sql/lists/fragments.ts";
import { requestsAnswered, requestsSent } from "../../../sql/lists/counted-lists.ts";
import { sendRow, updateRows } from "../../../sql/lists/counted-rows.ts";
import { countRows } from "../../../sql/lists/list-counts.ts";
import type { Channel } from "../../../../contract/routes.ts";
import type { TimeRange } from "../../inputs.ts";
import { COUNT_WRITE } from "../../people/person-columns.ts";
import type { ReminderQueue } from "../queue-rows.ts";

/** Every method keeps the person's `nextSurveyAt` up to date. */
export class RequestRows extends Rows {
  async insert(project: number, request: NewRequest): Promise<number> {
    const id = await this.nextId(project);
    const { personId, channel, autopilot, createdAt, scheduledAt, isFirst = false, paused, properties } = request;
    sendRow(this.database, "messages", {
      project_id: project,
      id,
      person_id: personId,
      channel,
      autopilot: Number(autopilot),
      state: paused ? "paused" : "scheduled",
      created_at: createdAt,
      scheduled_at: scheduledAt,
      due_at: paused ? null : scheduledAt,
      properties: JSON.stringify(properties),
      token: request.token,
      unsubscribe_token: request.unsubscribeToken,
    });
    if (!paused && !isFirst)
      this.database.send(
        "UPDATE people SET next_survey_at = ? WHERE project_id = ? AND id = ? AND (next_survey_at IS NULL OR next_survey_at > ?)",
        [scheduledAt, project, personId, scheduledAt],
      );
    return id;
  }

  async setProperties(project: number, id: number, properties: Properties): Promise<void> {
    this.database.send("UPDATE messages SET properties = ? WHERE project_id = ? AND id = ?", [
      JSON.stringify(properties),
      project,
      id,
    ]);
  }

  /** Moves a pending request. If the time changes, the request gets a new place in the queue. */
  async reschedule(
    project: number,
    { requestId, personId }: { readonly requestId: number; readonly personId: number },
    to: { readonly state: string; readonly scheduledAt: number; readonly dueAt: number | null },
  ): Promise<void> {
    const set = `state = ?, scheduled_at = ?, due_at = ?, planned_at = CASE WHEN scheduled_at = ? THEN planned_at END,
      reason = CASE WHEN scheduled_at = ? THEN reason END`;
    const values = [to.state, to.scheduledAt, to.dueAt, to.scheduledAt, to.scheduledAt];
    const message = ["project_id = ? AND id = ?", project, requestId] as const;
    await updateRows(this.database, "messages", [set, ...values], message);
    refreshNextSurvey(this.database, project, personId, COUNT_WRITE);
  }

  /**
   * Cancels pending requests; null means all channels, or both kinds. A claimed request is finished by its claimer, but
   * never claimed again; one in transmission isn't changed. `isWrite` counts as a write to the person. Returns the
   * number of requests.
   */
  async cancel(
    project: number,
    personId: number,
    which: {
      readonly channel: Channel | null;
      readonly autopilot: boolean | null;
      readonly reason?: string;
      readonly id?: number;
      readonly isWrite?: boolean;
    },
  ): Promise<number> {
    const { channel, autopilot, reason = null, id: only, isWrite = false } = which;
    const where: Where = {
      clauses: ["project_id = ?", "person_id = ?", `(${IS_WAITING} OR state = 'paused')`, "state <> 'transmitting'"],
      values: [project, personId],
    };
    if (channel !== null) addCondition(where, "channel = ?", channel);
    if (autopilot !== null) addCondition(where, "autopilot = ?", Number(autopilot));
    if (only !== undefined) addCondition(where, "id = ?", only);
    const found = await this.database.all(`SELECT id FROM messages WHERE ${whereSql(where)}`, where.values);
    for (const { id = null } of found) {
      this.database.send(
        "UPDATE memberships SET next_request_id = NULL WHERE project_id = ? AND person_id = ? AND next_request_id = ?",
        [project, personId, id],
      );
      // A claimed message may be in flight, so it keeps its claim, and its link works when it arrives.
      noteErased(this.database, ["project_id = ? AND id = ? AND claimer IS NULL", project, id]);
      const set = ["state = 'cancelled', due_at = NULL, reason = coalesce(?, reason)", reason] as const;
      await updateRows(this.database, "messages", set, ["project_id = ? AND id = ?", project, id]);
    }
    if (found.length > 0) refreshNextSurvey(this.database, project, personId, ...(isWrite ? [COUNT_WRITE] : []));
    return found.length;
  }

  async deleteSome(project: number, personId: number, limit: number): Promise<number> {
    const ids = "SELECT id FROM messages WHERE project_id = ? AND person_id = ? ORDER BY id LIMIT ?";
    return deleteRequests(this.database, project, [`id IN (${ids})`, project, personId, limit]);
  }

  /** The current time if a survey is in flight, null if there was none. */
  async lastAutopilotAt(project: number, personId: number, channel: Channel): Promise<number | null> {
    const row = await this.database.first(
      `SELECT max(CASE WHEN claimer IS NOT NULL THEN ? WHEN state = 'unknown' THEN transmitting_at ELSE sent_at END) AS at
         FROM messages
         WHERE project_id = ? AND person_id = ? AND channel = ? AND autopilot = 1`,
      [this.session.now, project, personId, channel],
    );
    return numberOrNull(row?.at);
  }

  /** Doesn't select by state, for the same reason as `NEXT_SURVEY_AT`. */
  async nextSingleAt(project: number, personId: number): Promise<number | null> {
    const row = await this.database.first(
      `SELECT min(CASE WHEN ${IS_WAITING} AND autopilot = 0 THEN scheduled_at END) AS at
       FROM messages WHERE project_id = ? AND person_id = ?`,
      [project, personId],
    );
    return numberOrNull(row?.at);
  }

  async countSent(project: number, channel: Channel | ReminderQueue, range: TimeRange): Promise<number> {
    return countRows(this.database, requestsSent(project, channel), range);
  }

  /** Surveys sent in the range that have been answered by now. */
  async countAnswered(project: number, channel: Channel, range: TimeRange): Promise<number> {
    return countRows(this.database, requestsAnswered(project, channel), range);
  }

  async waitingProperties(project: number, personId: number, channel: Channel): Promise<Properties | null> {
    const row = await this.database.first(
      `SELECT properties FROM messages WHERE project_id = ? AND person_id = ? AND channel = ?
         AND due_at IS NOT NULL ORDER BY id DESC LIMIT 1`,
      [project, personId, channel],
    );
    return row === null ? null : (JSON.parse(String(row.properties)) as Properties);
  }

  async byToken(token: string): Promise<SurveyLink | null> {
    return this.#findLink("token", token);
  }

  async byUnsubscribeToken(token: string): Promise<SurveyLink | null> {
    return this.#findLink("unsubscribe_token", token);
  }

  async #findLink(column: "token" | "unsubscribe_token", token: string): Promise<SurveyLink | null> {
    const row = await this.database.first(`${LINK} WHERE q.${column} = ?`, [token]);
    if (row === null) return null;
    return { ...readRow<SurveyLink>(row, { json: ["properties"] }), pageFacts: readPageFacts(row.pageFacts) };
  }

  async setPageFacts(project: number, id: number, facts: PageFacts): Promise<void> {
    this.database.send("UPDATE messages SET page_facts = ? WHERE project_id = ? AND id = ?", [
      JSON.stringify(facts),
      project,
      id,
    ]);
  }

  /** Does nothing if the survey was answered before. */
  async noteAnswer({ project, requestId, answeredAt }: SurveyLink): Promise<void> {
    if (answeredAt !== null) return;
    const message = ["project_id = ? AND id = ?", project.id, requestId] as const;
    await updateRows(this.database, "messages", ["answered_at = ?", this.session.now], message);
  }
}

const LINK = `SELECT p.id AS "project.id", p.name AS "project.name", q.id AS "requestId", q.person_id AS "personId", q.channel,
  q.properties, q.unsubscribe_token AS "unsubscribeToken", q.sent_at AS "sentAt", q.answered_at AS "answeredAt",
  q.page_facts AS "pageFacts", r.id AS "responseId"
  FROM messages q JOIN projects p ON p.id = q.project_id
  LEFT JOIN responses r ON r.project_id = q.project_id AND r.request_id = q.id`;
