import { Rows } from "../../../sql/rows.ts";
import type { Properties } from "../../../../contract/resources.ts";
import type { NewRequest, SurveyLink, PageFacts } from "../rows.ts";
import { deleteRequests, IS_WAITING, noteErased, refreshNextSurvey } from "./claims.ts";
import { type Database, numberOrNull } from "../../../sql/database.ts";
import { readPageFacts } from "./page-facts.ts";
import { nextId } from "../../projects/project-rows.ts";
import { addCondition, whereSql, type Where } from "../../../sql/lists/fragments.ts";
import { requestsAnswered, requestsSent } from "../../../sql/lists/counted-lists.ts";
import { sendRow, updateRows } from "../../../sql/lists/counted-rows.ts";
import { countRows } from "../../../sql/lists/list-counts.ts";
import type { Channel } from "../../../../contract/routes.ts";
import type { TimeRange } from "../../inputs.ts";
import type { ReminderQueue } from "../queue-rows.ts";

/** Each method keeps the person's `nextSurveyAt` up to date. */
export class RequestRows extends Rows {
  async insert(project: number, request: NewRequest): Promise<number> {
    const id = await insertRequest(this.database, project, request);
    if (!request.paused && request.isFirst !== true)
      bringForward(this.database, project, request.personId, request.scheduledAt);
    return id;
  }

  async setProperties(project: number, id: number, properties: Properties): Promise<void> {
    this.database.send("UPDATE messages SET properties = ? WHERE project_id = ? AND id = ?", [
      JSON.stringify(properties),
      project,
      id,
    ]);
  }

  /**
   * Cancels a person's pending requests: of one channel (null for all), only Autopilot's or only the others (null for
   * both). A claimed request is finished by its claimer, but never claimed again; one that is transmitting is left
   * alone. Stores `reason`, and returns the number.
   */
  async cancel(
    project: number,
    personId: number,
    which: { readonly channel: Channel | null; readonly autopilot: boolean | null; readonly reason?: string },
  ): Promise<number> {
    const where: Where = {
      clauses: ["project_id = ?", "person_id = ?", `(${IS_WAITING} OR state = 'paused')`, "state <> 'transmitting'"],
      values: [project, personId],
    };
    if (which.channel !== null) addCondition(where, "channel = ?", which.channel);
    if (which.autopilot !== null) addCondition(where, "autopilot = ?", which.autopilot ? 1 : 0);
    const ids = (await this.database.all(`SELECT id FROM messages WHERE ${whereSql(where)}`, where.values)).map((row) =>
      Number(row.id),
    );
    for (const id of ids) await cancelRequest(this.database, { project, personId, id, reason: which.reason ?? null });
    if (ids.length > 0) refreshNextSurvey(this.database, project, personId);
    return ids.length;
  }

  async deleteSome(project: number, personId: number, limit: number): Promise<number> {
    const ids = "SELECT id FROM messages WHERE project_id = ? AND person_id = ? ORDER BY id LIMIT ?";
    return deleteRequests(this.database, project, [`id IN (${ids})`, project, personId, limit]);
  }

  /** When the person's last Autopilot survey on the channel was sent: now if it is in flight, null for none. */
  async lastAutopilotAt(project: number, personId: number, channel: Channel): Promise<number | null> {
    const row = await this.database.first(
      `SELECT max(CASE WHEN claimer IS NOT NULL THEN ? WHEN state = 'unknown' THEN transmitting_at ELSE sent_at END) AS at
         FROM messages
         WHERE project_id = ? AND person_id = ? AND channel = ? AND autopilot = 1`,
      [this.session.now, project, personId, channel],
    );
    return numberOrNull(row?.at);
  }

  async nextSingleAt(project: number, personId: number): Promise<number | null> {
    return nextSingleAt(this.database, project, personId);
  }

  async countSent(project: number, channel: Channel | ReminderQueue, range: TimeRange): Promise<number> {
    return countRows(this.database, requestsSent(project, channel), range);
  }

  /** Counts surveys sent in the range that have been answered since, at any time. */
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
    return findLink(this.database, "token", token);
  }

  async byUnsubscribeToken(token: string): Promise<SurveyLink | null> {
    return findLink(this.database, "unsubscribe_token", token);
  }

  async setPageFacts(project: number, id: number, facts: PageFacts): Promise<void> {
    this.database.send("UPDATE messages SET page_facts = ? WHERE project_id = ? AND id = ?", [
      JSON.stringify(facts),
      project,
      id,
    ]);
  }

  /** Records that a survey is answered now; does nothing if it already was. */
  async noteAnswer({
    project,
    requestId,
    answeredAt,
  }: Pick<SurveyLink, "project" | "requestId" | "channel" | "sentAt" | "answeredAt">): Promise<void> {
    if (answeredAt !== null) return;
    const message = ["project_id = ? AND id = ?", project.id, requestId] as const;
    await updateRows(this.database, "messages", ["answered_at = ?", this.session.now], message);
  }
}

/** Doesn't select by state, like `NEXT_SURVEY_AT`. */
async function nextSingleAt(database: Database, project: number, personId: number): Promise<number | null> {
  const row = await database.first(
    `SELECT min(CASE WHEN ${IS_WAITING} AND autopilot = 0 THEN scheduled_at END) AS at
     FROM messages WHERE project_id = ? AND person_id = ?`,
    [project, personId],
  );
  return numberOrNull(row?.at);
}

async function insertRequest(database: Database, project: number, request: NewRequest): Promise<number> {
  const id = await nextId(database, project);
  const { personId, channel, autopilot, createdAt, scheduledAt, paused, properties, token, unsubscribeToken } = request;
  sendRow(database, "messages", {
    project_id: project,
    id,
    person_id: personId,
    channel,
    autopilot: autopilot ? 1 : 0,
    state: paused ? "paused" : "scheduled",
    created_at: createdAt,
    scheduled_at: scheduledAt,
    due_at: paused ? null : scheduledAt,
    properties: JSON.stringify(properties),
    token,
    unsubscribe_token: unsubscribeToken,
  });
  return id;
}

function bringForward(database: Database, project: number, personId: number, at: number): void {
  database.send(
    "UPDATE people SET next_survey_at = ? WHERE project_id = ? AND id = ? AND (next_survey_at IS NULL OR next_survey_at > ?)",
    [at, project, personId, at],
  );
}

interface Cancelled {
  readonly project: number;
  readonly personId: number;
  readonly id: number;
  readonly reason: string | null;
}

/** A claimed message may be in flight: its claim stays, and its link works when it arrives. */
async function cancelRequest(database: Database, { project, personId, id, reason }: Cancelled): Promise<void> {
  database.send(
    "UPDATE memberships SET next_request_id = NULL WHERE project_id = ? AND person_id = ? AND next_request_id = ?",
    [project, personId, id],
  );
  noteErased(database, ["project_id = ? AND id = ? AND claimer IS NULL", project, id]);
  const set = ["state = 'cancelled', due_at = NULL, reason = coalesce(?, reason)", reason] as const;
  await updateRows(database, "messages", set, ["project_id = ? AND id = ?", project, id]);
}

async function findLink(
  database: Database,
  column: "token" | "unsubscribe_token",
  token: string,
): Promise<SurveyLink | null> {
  const row = await database.first(
    `SELECT p.id AS "projectId", p.name, q.id, q.person_id AS "personId", q.channel, q.properties,
       q.unsubscribe_token AS "unsubscribeToken", q.sent_at AS "sentAt", q.answered_at AS "answeredAt", q.page_facts AS "pageFacts", r.id AS "responseId"
     FROM messages q JOIN projects p ON p.id = q.project_id
     LEFT JOIN responses r ON r.project_id = q.project_id AND r.request_id = q.id WHERE q.${column} = ?`,
    [token],
  );
  if (row === null) return null;
  return {
    project: { id: Number(row.projectId), name: String(row.name) },
    requestId: Number(row.id),
    personId: Number(row.personId),
    channel: row.channel === "sms" ? "sms" : "email",
    unsubscribeToken: String(row.unsubscribeToken),
    properties: JSON.parse(String(row.properties)) as Properties,
    sentAt: numberOrNull(row.sentAt),
    answeredAt: numberOrNull(row.answeredAt),
    pageFacts: readPageFacts(row.pageFacts),
    responseId: numberOrNull(row.responseId),
  };
}
