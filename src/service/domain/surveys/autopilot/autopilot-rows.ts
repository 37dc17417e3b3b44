import type { Platform, Properties, AutopilotConfiguration } from "../../../../contract/resources.ts";
import type { Start } from "../due-moment.ts";
import type { Database, Session, SqlRow } from "../../../sql/database.ts";
import { addCondition, jsonNumber, jsonObject, jsonText, type Where, whereSql } from "../../../sql/lists/fragments.ts";
import { refreshNextSurvey } from "../../delivery/rows/claims.ts";
import type { LongChanges } from "../../../sql/long-changes.ts";
import { changeAutopilotSettings, readAutopilotSettings, readAutopilotConfiguration } from "./settings-rows.ts";
import type { JsonRows, Position } from "../../rows.ts";
import type { AutopilotSettings } from "./autopilot-settings.ts";

export interface MembershipRow {
  readonly personId: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly properties: Properties;
  /** The request that waits to be sent; null when none does. */
  readonly nextRequestId: number | null;
  readonly nextSurveyAt: number | null;
  /** Counted from 1 on the platform, in the order in which people joined. */
  readonly number: number;
  readonly start: Start;
  /** The next survey is not due sooner; null for no such bound. */
  readonly notBefore: number | null;
}

export interface MembersFilter {
  readonly personId: number | null;
  readonly after: Position | null;
  readonly limit: number;
}

/** Members of Autopilot, each with the request that is their next. */

const MEMBER = "project_id = ? AND platform = ? AND person_id = ?";

export class AutopilotRows {
  readonly #database: Database;
  readonly #session: Session;
  readonly #changes: LongChanges;

  constructor(database: Database, session: Session, changes: LongChanges) {
    this.#database = database;
    this.#session = session;
    this.#changes = changes;
  }

  async configuration(project: number, platform: Platform): Promise<AutopilotConfiguration> {
    return readAutopilotConfiguration(this.#database, project, platform);
  }

  async settings(project: number, platform: Platform): Promise<AutopilotSettings> {
    return readAutopilotSettings(this.#database, project, platform);
  }

  /** Stores the settings and, where they differ, lets what waits follow them as `reschedule` does. */
  async configure(project: number, platform: Platform, settings: AutopilotSettings): Promise<void> {
    if (await changeAutopilotSettings(this.#database, this.#session.now, project, platform, settings))
      await this.reschedule(project, platform);
  }

  /** Plans all members' waiting surveys again, in steps. */
  async reschedule(project: number, platform: Platform): Promise<void> {
    await this.#changes.begin({ project, kind: "reschedule", target: platform });
  }

  /** The people who have joined so far, those who left included: the number of the one who joined last. */
  async joined(project: number, platform: Platform): Promise<number> {
    const sql = "SELECT joined FROM autopilot_configurations WHERE project_id = ? AND platform = ?";
    return Number((await this.#database.first(sql, [project, platform]))?.joined ?? 0);
  }

  async member(project: number, platform: Platform, personId: number): Promise<MembershipRow | null> {
    const row = await this.#database.first(MEMBERSHIP, [project, platform, personId]);
    return row === null ? null : toMember(row);
  }

  async insertMember(
    project: number,
    platform: Platform,
    member: { readonly personId: number; readonly properties: Properties; readonly start: Start },
  ): Promise<MembershipRow> {
    return insertMember(this.#database, this.#session.now, project, platform, member);
  }

  async setMemberProperties(
    project: number,
    platform: Platform,
    personId: number,
    properties: Properties,
  ): Promise<void> {
    const sql = `UPDATE memberships SET properties = ?, updated_at = ? WHERE ${MEMBER}`;
    this.#database.send(sql, [JSON.stringify(properties), this.#session.now, project, platform, personId]);
  }

  /** Names the request that is the member's next, null for none, and what it is counted from. */
  async setNext(
    project: number,
    platform: Platform,
    personId: number,
    { requestId, start }: { readonly requestId: number | null; readonly start: Start },
  ): Promise<void> {
    this.#database.send(`UPDATE memberships SET next_request_id = ?, start = ?, updated_at = ? WHERE ${MEMBER}`, [
      requestId,
      JSON.stringify(start),
      this.#session.now,
      project,
      platform,
      personId,
    ]);
  }

  /** The member's next survey is not due sooner; one that waits and was not tried moves there. */
  async postpone(
    project: number,
    platform: Platform,
    member: MembershipRow,
    to: { readonly notBefore: number; readonly dueAt: number },
  ): Promise<void> {
    return postpone(this.#database, this.#session.now, { project, platform, member, ...to });
  }

  async deleteMember(project: number, platform: Platform, personId: number): Promise<void> {
    this.#database.send(`DELETE FROM memberships WHERE ${MEMBER}`, [project, platform, personId]);
  }

  /** In the order in which they were added, `Membership` as JSON; `Position.id` is the person's. */
  async list(project: number, platform: Platform, filter: MembersFilter): Promise<JsonRows> {
    const where: Where = { clauses: ["m.project_id = ?", "m.platform = ?"], values: [project, platform] };
    if (filter.personId !== null) addCondition(where, "m.person_id = ?", filter.personId);
    if (filter.after !== null)
      addCondition(where, "(m.created_at, m.person_id) > (?, ?)", filter.after.createdAt, filter.after.id);
    const sql = `SELECT ${MEMBERSHIP_JSON} AS json FROM memberships m
    LEFT JOIN people p ON p.project_id = m.project_id AND p.id = m.person_id
    LEFT JOIN messages q ON q.project_id = m.project_id AND q.id = m.next_request_id
    WHERE ${whereSql(where)} ORDER BY m.created_at, m.person_id LIMIT ?`;
    return (await this.#database.all(sql, [...where.values, filter.limit])).map(({ json }) => String(json));
  }
}

const MEMBERSHIP = `SELECT person_id AS "personId", created_at AS "createdAt", updated_at AS "updatedAt", properties,
  next_request_id AS "nextRequestId", number, start, not_before AS "notBefore",
  (SELECT q.scheduled_at FROM messages q WHERE q.project_id = m.project_id AND q.id = m.next_request_id) AS "nextSurveyAt"
  FROM memberships m WHERE ${MEMBER}`;

function toMember(row: SqlRow): MembershipRow {
  return {
    ...(row as unknown as Omit<MembershipRow, "properties" | "start">),
    properties: JSON.parse(String(row.properties)) as Properties,
    start: JSON.parse(String(row.start)) as Start,
  };
}

async function insertMember(
  database: Database,
  now: number,
  project: number,
  platform: Platform,
  { personId, properties, start }: Parameters<AutopilotRows["insertMember"]>[2],
): Promise<MembershipRow> {
  const [joined] = await database.returning(
    "UPDATE autopilot_configurations SET joined = joined + 1 WHERE project_id = ? AND platform = ? RETURNING joined",
    [project, platform],
  );
  const number = Number(joined?.joined);
  database.send(
    `INSERT INTO memberships (project_id, platform, person_id, created_at, updated_at, properties, number, start)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [project, platform, personId, now, now, JSON.stringify(properties), number, JSON.stringify(start)],
  );
  const waiting = { nextRequestId: null, nextSurveyAt: null, notBefore: null };
  return { personId, createdAt: now, updatedAt: now, properties, number, start, ...waiting };
}

interface Postponement {
  readonly project: number;
  readonly platform: Platform;
  readonly member: MembershipRow;
  readonly notBefore: number;
  readonly dueAt: number;
}

/** `updated_at` tells of surveys that were rescheduled (section 2), and not of a limit that moves none. */
async function postpone(
  database: Database,
  now: number,
  { project, platform, member: { personId, nextRequestId }, notBefore, dueAt }: Postponement,
): Promise<void> {
  const moved = await database.returning(
    `UPDATE messages SET scheduled_at = ?, due_at = CASE WHEN state = 'scheduled' THEN CAST(? AS BIGINT) END
     WHERE project_id = ? AND id = ? AND claims = 0 AND state IN ('scheduled', 'paused') AND scheduled_at <> ?
     RETURNING id`,
    [dueAt, dueAt, project, nextRequestId, dueAt],
  );
  const member = [project, platform, personId];
  database.send(`UPDATE memberships SET not_before = ? WHERE ${MEMBER}`, [notBefore, ...member]);
  if (moved.length === 0) return;
  database.send(`UPDATE memberships SET updated_at = ? WHERE ${MEMBER}`, [now, ...member]);
  refreshNextSurvey(database, project, personId);
}

const MEMBER_PERSON = jsonObject([
  ["id", `'"', p.id, '"'`],
  ["name", jsonText("p.name")],
  ["email", jsonText("p.email")],
  ["phone_number", jsonText("p.phone_number")],
  ["created_at", "p.created_at"],
  ["last_sent_at", jsonNumber("p.last_sent_at")],
]);

const NEXT_REQUEST = jsonObject([
  ["id", `'"', q.id, '"'`],
  ["created_at", "q.created_at"],
  ["survey_scheduled_at", "q.scheduled_at"],
  ["properties", "q.properties"],
]);

const MEMBERSHIP_JSON = jsonObject([
  ["created_at", "m.created_at"],
  ["updated_at", "m.updated_at"],
  ["person", MEMBER_PERSON],
  ["next_survey_request", `CASE WHEN q.id IS NULL THEN 'null' ELSE ${NEXT_REQUEST} END`],
]);
