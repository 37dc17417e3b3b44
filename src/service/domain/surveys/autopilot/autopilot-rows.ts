import { Rows } from "../../../sql/rows.ts";
import type { Platform, Properties, AutopilotConfiguration } from "../../../../contract/resources.ts";
import { DEFAULT_ZONE } from "../../../../runtime/zone.ts";
import type { Start } from "../due-moment.ts";
import { readRow } from "../../../sql/columns.ts";
import type { SqlRow } from "../../../sql/database.ts";
import { addCondition, jsonNumber, jsonObject, jsonText, type Where, whereSql } from "../../../sql/lists/fragments.ts";
import { refreshNextSurvey } from "../../delivery/rows/claims.ts";
import { formatDays, formatHours, toWindow, type Window } from "../../windows/windows.ts";
import type { JsonRows, Position } from "../../rows.ts";

export interface MembershipRow {
  readonly platform: Platform;
  readonly personId: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly properties: Properties;
  readonly nextRequestId: number | null;
  readonly nextSurveyAt: number | null;
  /** The member's number on the platform, from 1, in the order of joining. */
  readonly number: number;
  readonly start: Start;
  /** Earliest time of the next survey, or null. */
  readonly notBefore: number | null;
}

export interface MembersFilter {
  readonly personId: number | null;
  readonly after: Position | null;
  readonly limit: number;
}

export interface AutopilotSettings {
  readonly active: boolean;
  readonly frequency: number;
  readonly first: "spread" | "now";
  readonly window: Window;
}

export interface PlannedSurvey {
  readonly state: "scheduled" | "retrying" | "paused";
  readonly start: Start;
  readonly scheduledAt: number;
  /** Null while it is paused. */
  readonly dueAt: number | null;
}

export interface WaitingSurvey extends PlannedSurvey, Pick<MembershipRow, "personId" | "number" | "notBefore"> {
  readonly id: number;
  readonly claims: number;
  readonly attempts: number;
}

const MEMBER = "project_id = ? AND platform = ? AND person_id = ?";

export class AutopilotRows extends Rows {
  async configuration(project: number, platform: Platform): Promise<AutopilotConfiguration> {
    const row = await this.database.first(
      `SELECT platform AS platform_id, active, frequency, created_at, updated_at
       FROM autopilot_configurations WHERE project_id = ? AND platform = ?`,
      [project, platform],
    );
    return readRow<AutopilotConfiguration>(row!, { flags: ["active"] });
  }

  /** The settings without the server's quiet hours. */
  async ownSettings(project: number, platform: Platform): Promise<AutopilotSettings> {
    const row = await this.database.first(
      `SELECT active, frequency, first, days, hours,
         (SELECT value FROM project_settings s WHERE s.project_id = c.project_id AND s.name = 'tz') AS zone
       FROM autopilot_configurations c WHERE project_id = ? AND platform = ?`,
      [project, platform],
    );
    const { days, hours, zone, ...own } = row!;
    const window = toWindow(String(days), String(hours), String(zone ?? DEFAULT_ZONE));
    return { ...readRow<Omit<AutopilotSettings, "window">>(own, { flags: ["active"] }), window };
  }

  async setSettings(project: number, platform: Platform, settings: AutopilotSettings): Promise<void> {
    const { active, frequency, first, window } = settings;
    const { now } = this.session;
    this.database.send(
      `INSERT INTO autopilot_configurations (project_id, platform, active, frequency, first, days, hours, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project_id, platform) DO UPDATE SET active = excluded.active,
         frequency = excluded.frequency, first = excluded.first, days = excluded.days, hours = excluded.hours,
         updated_at = excluded.updated_at`,
      [project, platform, Number(active), frequency, first, formatDays(window.days), formatHours(window), now, now],
    );
  }

  async joined(project: number, platform: Platform): Promise<number> {
    const sql = "SELECT joined FROM autopilot_configurations WHERE project_id = ? AND platform = ?";
    return Number((await this.database.first(sql, [project, platform]))?.joined ?? 0);
  }

  async member(project: number, platform: Platform, personId: number): Promise<MembershipRow | null> {
    const row = await this.database.first(`${MEMBERSHIP} AND platform = ?`, [project, personId, platform]);
    return row === null ? null : toMember(row);
  }

  async memberships(project: number, personId: number): Promise<readonly MembershipRow[]> {
    return (await this.database.all(`${MEMBERSHIP} ORDER BY platform`, [project, personId])).map(toMember);
  }

  async insertMember(
    project: number,
    platform: Platform,
    member: { readonly personId: number; readonly properties: Properties; readonly start: Start },
  ): Promise<MembershipRow> {
    const { personId, properties, start } = member;
    const { now } = this.session;
    const [joined] = await this.database.returning(
      "UPDATE autopilot_configurations SET joined = joined + 1 WHERE project_id = ? AND platform = ? RETURNING joined",
      [project, platform],
    );
    const number = Number(joined?.joined);
    this.database.send(
      `INSERT INTO memberships (project_id, platform, person_id, created_at, updated_at, properties, number, start)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [project, platform, personId, now, now, JSON.stringify(properties), number, JSON.stringify(start)],
    );
    const waiting = { nextRequestId: null, nextSurveyAt: null, notBefore: null };
    return { platform, personId, createdAt: now, updatedAt: now, properties, number, start, ...waiting };
  }

  async setMemberProperties(
    project: number,
    platform: Platform,
    personId: number,
    properties: Properties,
  ): Promise<void> {
    const sql = `UPDATE memberships SET properties = ?, updated_at = ? WHERE ${MEMBER}`;
    this.database.send(sql, [JSON.stringify(properties), this.session.now, project, platform, personId]);
  }

  /** `start` is the event from which the next survey's time is counted. */
  async setNext(
    project: number,
    platform: Platform,
    personId: number,
    { requestId, start }: { readonly requestId: number | null; readonly start: Start },
  ): Promise<void> {
    this.database.send(`UPDATE memberships SET next_request_id = ?, start = ?, updated_at = ? WHERE ${MEMBER}`, [
      requestId,
      JSON.stringify(start),
      this.session.now,
      project,
      platform,
      personId,
    ]);
  }

  /** Sets the earliest time of the member's next survey, and moves a pending survey that was never claimed. */
  async postpone(
    project: number,
    { platform, personId, nextRequestId }: MembershipRow,
    { notBefore, dueAt }: { readonly notBefore: number; readonly dueAt: number },
  ): Promise<void> {
    const moved = await this.database.returning(
      `UPDATE messages SET scheduled_at = ?, due_at = CASE WHEN state = 'scheduled' THEN CAST(? AS BIGINT) END
       WHERE project_id = ? AND id = ? AND claims = 0 AND state IN ('scheduled', 'paused') AND scheduled_at <> ?
       RETURNING id`,
      [dueAt, dueAt, project, nextRequestId, dueAt],
    );
    const member = [project, platform, personId];
    this.database.send(`UPDATE memberships SET not_before = ? WHERE ${MEMBER}`, [notBefore, ...member]);
    if (moved.length === 0) return;
    this.database.send(`UPDATE memberships SET updated_at = ? WHERE ${MEMBER}`, [this.session.now, ...member]);
    refreshNextSurvey(this.database, project, personId);
  }

  /** Ordered by person. Messages in flight aren't included. */
  async waiting(project: number, platform: Platform, after: number, limit: number): Promise<readonly WaitingSurvey[]> {
    const rows = await this.database.all(WAITING, [project, platform, after, limit]);
    return rows.map((row) => readRow<WaitingSurvey>(row, { json: ["start"] }));
  }

  async deleteMember(project: number, platform: Platform, personId: number): Promise<void> {
    this.database.send(`DELETE FROM memberships WHERE ${MEMBER}`, [project, platform, personId]);
  }

  /** `Membership`s as JSON, in the order of joining. `Position.id` is the person's id. */
  async list(project: number, platform: Platform, filter: MembersFilter): Promise<JsonRows> {
    const where: Where = { clauses: ["m.project_id = ?", "m.platform = ?"], values: [project, platform] };
    if (filter.personId !== null) addCondition(where, "m.person_id = ?", filter.personId);
    if (filter.after !== null)
      addCondition(where, "(m.created_at, m.person_id) > (?, ?)", filter.after.createdAt, filter.after.id);
    const sql = `SELECT ${MEMBERSHIP_JSON} AS json FROM memberships m
    LEFT JOIN people p ON p.project_id = m.project_id AND p.id = m.person_id
    LEFT JOIN messages q ON q.project_id = m.project_id AND q.id = m.next_request_id
    WHERE ${whereSql(where)} ORDER BY m.created_at, m.person_id LIMIT ?`;
    return (await this.database.all(sql, [...where.values, filter.limit])).map(({ json }) => String(json));
  }
}

const WAITING = `SELECT m.person_id AS "personId", m.number, m.start, m.not_before AS "notBefore", q.id, q.state, q.claims,
    q.attempts, q.scheduled_at AS "scheduledAt", q.due_at AS "dueAt"
  FROM memberships m JOIN messages q ON q.project_id = m.project_id AND q.id = m.next_request_id
  WHERE m.project_id = ? AND m.platform = ? AND m.person_id > ?
    AND q.claimer IS NULL AND q.state IN ('scheduled', 'retrying', 'paused')
  ORDER BY m.person_id LIMIT ?`;

const MEMBERSHIP = `SELECT platform, person_id AS "personId", created_at AS "createdAt", updated_at AS "updatedAt", properties,
  next_request_id AS "nextRequestId", number, start, not_before AS "notBefore",
  (SELECT q.scheduled_at FROM messages q WHERE q.project_id = m.project_id AND q.id = m.next_request_id) AS "nextSurveyAt"
  FROM memberships m WHERE m.project_id = ? AND m.person_id = ?`;

function toMember(row: SqlRow): MembershipRow {
  return readRow<MembershipRow>(row, { json: ["properties", "start"] });
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
