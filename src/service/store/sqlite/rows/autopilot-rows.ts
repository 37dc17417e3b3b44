import type { AutopilotConfiguration, Platform, Properties } from "../../../../contract/resources.ts";
import type { AutopilotRows, MembershipRow } from "../../../domain/ports.ts";
import { configure } from "./autopilot-configuration.ts";
import type { Database } from "../engine/database.ts";
import { listMembers } from "./membership-lists.ts";
import type { LongChanges } from "../steps/long-changes.ts";
import type { Session } from "../engine/session.ts";

const MEMBER = "project_id = ? AND platform = ? AND person_id = ?";

export function createAutopilotRows(database: Database, session: Session, changes: LongChanges): AutopilotRows {
  return {
    configuration: async (project, platform) => readConfiguration(database, project, platform),
    configure: async (project, platform, change) =>
      configure(database, changes, session.now, { project, platform, ...change }),
    member: async (project, platform, personId) => findMember(database, project, platform, personId),
    insertMember: async (project, platform, { personId, properties }) => {
      database.run(
        "INSERT INTO memberships (project_id, platform, person_id, created_at, updated_at, properties) VALUES (?, ?, ?, ?, ?, ?)",
        [project, platform, personId, session.now, session.now, JSON.stringify(properties)],
      );
    },
    setMemberProperties: async (project, platform, personId, properties) => {
      const sql = `UPDATE memberships SET properties = ?, updated_at = ? WHERE ${MEMBER}`;
      database.run(sql, [JSON.stringify(properties), session.now, project, platform, personId]);
    },
    setNextRequest: async (project, platform, personId, requestId) => {
      database.run(`UPDATE memberships SET next_request_id = ?, updated_at = ? WHERE ${MEMBER}`, [
        requestId,
        session.now,
        project,
        platform,
        personId,
      ]);
    },
    deleteMember: async (project, platform, personId) => {
      database.run(`DELETE FROM memberships WHERE ${MEMBER}`, [project, platform, personId]);
    },
    list: async (project, platform, filter) => listMembers(database, project, platform, filter),
  };
}

function readConfiguration(database: Database, project: number, platform: Platform): AutopilotConfiguration {
  const row = database.first(
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

function findMember(database: Database, project: number, platform: Platform, personId: number): MembershipRow | null {
  const row = database.first(
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
