import type { Properties } from "../../../../../contract/resources.ts";
import type { LinkRows, PublicLink } from "../../../../domain/ports.ts";
import { type Database, textOrNull } from "../../../../sql/database.ts";
import type { SqlRow } from "../../../../sql/database.ts";
import type { Session } from "../../../../sql/database.ts";
import { nextId } from "../project-rows.ts";

const LINK = `SELECT p.id AS "projectId", p.name AS "projectName", l.id, l.name, l.token, l.properties,
  l.created_at AS "createdAt" FROM survey_links l JOIN projects p ON p.id = l.project_id`;

export function createLinkRows(database: Database, session: Session): LinkRows {
  return {
    insert: async (project, { name, token, properties }) => {
      const id = await nextId(database, project);
      database.send(
        "INSERT INTO survey_links (project_id, id, name, token, properties, created_at) VALUES (?, ?, ?, ?, ?, ?)",
        [project, id, name, token, JSON.stringify(properties), session.now],
      );
      return id;
    },
    list: async (project) =>
      (await database.all(`${LINK} WHERE l.project_id = ? ORDER BY l.id`, [project])).map(toLink),
    delete: async (project, id) =>
      (await database.run("DELETE FROM survey_links WHERE project_id = ? AND id = ?", [project, id])) > 0,
    byToken: async (token) => {
      const row = await database.first(`${LINK} WHERE l.token = ?`, [token]);
      return row === null ? null : toLink(row);
    },
    address: async (kind) => {
      const row = await database.first("SELECT value FROM store_marks WHERE name = ?", [kind]);
      return textOrNull(row?.value);
    },
    setAddress: async (kind, url) => {
      database.send(
        `INSERT INTO store_marks (name, value) VALUES (?, ?)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
        [kind, url],
      );
    },
  };
}

function toLink(row: SqlRow): PublicLink {
  return {
    project: { id: Number(row.projectId), name: String(row.projectName) },
    id: Number(row.id),
    name: String(row.name),
    token: String(row.token),
    properties: JSON.parse(String(row.properties)) as Properties,
    createdAt: Number(row.createdAt),
  };
}
