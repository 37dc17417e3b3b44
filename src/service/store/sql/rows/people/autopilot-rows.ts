import type { AutopilotConfiguration, Platform, Properties } from "../../../../../contract/resources.ts";
import type { AutopilotRows, JsonRows, MembersFilter, MembershipRow } from "../../../../domain/ports.ts";
import type { Database } from "../../database.ts";
import type { SqlValue } from "../../database.ts";
import type { Session } from "../../database.ts";
import { addCondition, jsonNumber, jsonObject, jsonText, type Where, whereSql } from "../../lists/fragments.ts";
import { NEXT_SURVEY_AT } from "../delivery/claims.ts";
import { type LongChange, type LongChanges, STEP } from "../long-changes.ts";

const MEMBER = "project_id = ? AND platform = ? AND person_id = ?";

export function createAutopilotRows(database: Database, session: Session, changes: LongChanges): AutopilotRows {
  return {
    configuration: async (project, platform) => readConfiguration(database, project, platform),
    configure: async (project, platform, change) =>
      configure(database, changes, session.now, { project, platform, ...change }),
    member: async (project, platform, personId) => findMember(database, project, platform, personId),
    insertMember: async (project, platform, { personId, properties }) => {
      database.send(
        "INSERT INTO memberships (project_id, platform, person_id, created_at, updated_at, properties) VALUES (?, ?, ?, ?, ?, ?)",
        [project, platform, personId, session.now, session.now, JSON.stringify(properties)],
      );
    },
    setMemberProperties: async (project, platform, personId, properties) => {
      const sql = `UPDATE memberships SET properties = ?, updated_at = ? WHERE ${MEMBER}`;
      database.send(sql, [JSON.stringify(properties), session.now, project, platform, personId]);
    },
    setNextRequest: async (project, platform, personId, requestId) => {
      database.send(`UPDATE memberships SET next_request_id = ?, updated_at = ? WHERE ${MEMBER}`, [
        requestId,
        session.now,
        project,
        platform,
        personId,
      ]);
    },
    deleteMember: async (project, platform, personId) => {
      database.send(`DELETE FROM memberships WHERE ${MEMBER}`, [project, platform, personId]);
    },
    list: async (project, platform, filter) => listMembers(database, project, platform, filter),
  };
}

async function readConfiguration(
  database: Database,
  project: number,
  platform: Platform,
): Promise<AutopilotConfiguration> {
  const row = await database.first(
    "SELECT active, frequency, created_at, updated_at FROM autopilot_configurations WHERE project_id = ? AND platform = ?",
    [project, platform],
  );
  if (row === null) throw new Error(`project ${project} has no Autopilot configuration for ${platform}`);
  const { active, frequency, created_at, updated_at } = row;
  return {
    platform_id: platform,
    active: active === 1,
    frequency: Number(frequency),
    created_at: Number(created_at),
    updated_at: Number(updated_at),
  };
}

async function findMember(
  database: Database,
  project: number,
  platform: Platform,
  personId: number,
): Promise<MembershipRow | null> {
  const row = await database.first(
    `SELECT person_id AS "personId", created_at AS "createdAt", updated_at AS "updatedAt", properties, next_request_id AS "nextRequestId"
     FROM memberships WHERE ${MEMBER}`,
    [project, platform, personId],
  );
  if (row === null) return null;
  return {
    ...(row as unknown as Omit<MembershipRow, "properties">),
    properties: JSON.parse(String(row.properties)) as Properties,
  };
}

interface Change {
  readonly project: number;
  readonly platform: Platform;
  readonly active: boolean;
  readonly frequencySeconds: number;
}

/** Stores the configuration and lets what waits follow it, in steps. */
export async function configure(database: Database, changes: LongChanges, now: number, change: Change): Promise<void> {
  const { project, platform, active, frequencySeconds } = change;
  const old = await database.first(
    "SELECT active, frequency FROM autopilot_configurations WHERE project_id = ? AND platform = ?",
    [project, platform],
  );
  if (old === null || (old.active === Number(active) && old.frequency === frequencySeconds)) return;
  database.send(
    "UPDATE autopilot_configurations SET active = ?, frequency = ?, updated_at = ? WHERE project_id = ? AND platform = ?",
    [Number(active), frequencySeconds, now, project, platform],
  );
  if (old.frequency !== frequencySeconds) await changes.begin({ project, kind: "follow frequency", target: platform });
  if (old.active !== Number(active)) await changes.begin({ project, kind: "follow activity", target: platform });
}

/** Some members of a platform, by their people's ids. */
const MEMBERS = "project_id = ? AND platform = ? AND person_id > ? AND person_id <= ?";
/** The requests that wait for them; one on its way is left alone. */
const WAITING = `claimer IS NULL AND state IN ('scheduled', 'retrying', 'paused') AND project_id = ?
  AND id IN (SELECT next_request_id FROM memberships WHERE ${MEMBERS})`;

/**
 * When the person's last Autopilot survey was sent; a person who left and came back has one that is older than the
 * request.
 */
const LAST_AT = `coalesce((SELECT max(s.sent_at) FROM survey_requests s WHERE s.project_id = survey_requests.project_id
  AND s.person_id = survey_requests.person_id AND s.channel = survey_requests.channel AND s.autopilot = 1), created_at)`;

/**
 * A step of "follow frequency": recurring surveys that were not tried yet move to their last one plus the interval;
 * first ones stay.
 */
export async function followFrequencyStep(database: Database, now: number, change: LongChange): Promise<number | null> {
  return changeMembers(database, change, async (members) => {
    const interval = Number((await readSettings(database, change)).frequency);
    const moved = `${WAITING} AND scheduled_at > created_at AND claims = 0 AND scheduled_at <> ${LAST_AT} + ?`;
    const which = [change.project, ...members, interval];
    database.send(
      `UPDATE memberships SET updated_at = ? WHERE ${MEMBERS} AND next_request_id IN (SELECT id FROM survey_requests WHERE ${moved})`,
      [now, ...members, ...which],
    );
    database.send(
      `UPDATE survey_requests SET scheduled_at = ${LAST_AT} + ?, due_at = CASE WHEN state = 'scheduled' THEN ${LAST_AT} + ? END
       WHERE ${moved}`,
      [interval, interval, ...which],
    );
  });
}

/** A step of "follow activity": what waits is paused, or is due again. */
export async function followActivityStep(database: Database, change: LongChange): Promise<number | null> {
  return changeMembers(database, change, async (members) => {
    const follow =
      (await readSettings(database, change)).active === 1
        ? "state = CASE WHEN attempts > 0 THEN 'retrying' ELSE 'scheduled' END, due_at = coalesce(due_at, scheduled_at)"
        : "state = 'paused', due_at = NULL";
    database.send(`UPDATE survey_requests SET ${follow} WHERE ${WAITING}`, [change.project, ...members]);
  });
}

async function readSettings(
  database: Database,
  { project, target }: LongChange,
): Promise<{ active: SqlValue; frequency: SqlValue }> {
  const row = await database.first(
    "SELECT active, frequency FROM autopilot_configurations WHERE project_id = ? AND platform = ?",
    [project, target],
  );
  return row as { active: SqlValue; frequency: SqlValue };
}

/** Changes the platform's next members, given as the values of `MEMBERS`, and looks their next surveys up again. */
async function changeMembers(
  database: Database,
  { project, target, doneTo }: LongChange,
  work: (members: readonly SqlValue[]) => Promise<void>,
): Promise<number | null> {
  const last = await database.first(
    "SELECT person_id AS id FROM memberships WHERE project_id = ? AND platform = ? AND person_id > ? ORDER BY person_id LIMIT 1 OFFSET ?",
    [project, target, doneTo, STEP - 1],
  );
  const to = last === null ? Number.MAX_SAFE_INTEGER : Number(last.id);
  const members = [project, target, doneTo, to];
  await work(members);
  database.send(
    `UPDATE people SET next_survey_at = ${NEXT_SURVEY_AT}
     WHERE project_id = ? AND id IN (SELECT person_id FROM memberships WHERE ${MEMBERS})`,
    [project, ...members],
  );
  return last === null ? null : to;
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

async function listMembers(
  database: Database,
  project: number,
  platform: Platform,
  filter: MembersFilter,
): Promise<JsonRows> {
  const where: Where = { clauses: ["m.project_id = ?", "m.platform = ?"], values: [project, platform] };
  if (filter.personId !== null) addCondition(where, "m.person_id = ?", filter.personId);
  if (filter.after !== null)
    addCondition(where, "(m.created_at, m.person_id) > (?, ?)", filter.after.createdAt, filter.after.id);
  const sql = `SELECT ${MEMBERSHIP_JSON} AS json FROM memberships m
    LEFT JOIN people p ON p.project_id = m.project_id AND p.id = m.person_id
    LEFT JOIN survey_requests q ON q.project_id = m.project_id AND q.id = m.next_request_id
    WHERE ${whereSql(where)} ORDER BY m.created_at, m.person_id LIMIT ?`;
  return (await database.all(sql, [...where.values, filter.limit])).map(({ json }) => String(json));
}
