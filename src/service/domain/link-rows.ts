import { Rows } from "../sql/rows.ts";
import type { Properties } from "../../contract/resources.ts";
import { textOrNull, type SqlRow } from "../sql/database.ts";
import { nextId } from "./projects/project-rows.ts";
import type { Project } from "./inputs.ts";

export interface PublicLink {
  readonly project: Project;
  readonly id: number;
  readonly name: string;
  readonly token: string;
  readonly properties: Properties;
  readonly createdAt: number;
}

/** `address` is the base of links, `listening` where the server itself listens. */
export type AddressKind = "address" | "listening";

const LINK = `SELECT p.id AS "projectId", p.name AS "projectName", l.id, l.name, l.token, l.properties,
  l.created_at AS "createdAt" FROM survey_links l JOIN projects p ON p.id = l.project_id`;

export class LinkRows extends Rows {
  async insert(
    project: number,
    { name, token, properties }: Pick<PublicLink, "name" | "token" | "properties">,
  ): Promise<number> {
    const id = await nextId(this.database, project);
    this.database.send(
      "INSERT INTO survey_links (project_id, id, name, token, properties, created_at) VALUES (?, ?, ?, ?, ?, ?)",
      [project, id, name, token, JSON.stringify(properties), this.session.now],
    );
    return id;
  }

  async list(project: number): Promise<readonly PublicLink[]> {
    return (await this.database.all(`${LINK} WHERE l.project_id = ? ORDER BY l.id`, [project])).map(toLink);
  }

  async delete(project: number, id: number): Promise<boolean> {
    return (await this.database.run("DELETE FROM survey_links WHERE project_id = ? AND id = ?", [project, id])) > 0;
  }

  async byToken(token: string): Promise<PublicLink | null> {
    const row = await this.database.first(`${LINK} WHERE l.token = ?`, [token]);
    return row === null ? null : toLink(row);
  }

  /** Of the newest server; null before the first one. */
  async address(kind: AddressKind): Promise<string | null> {
    const row = await this.database.first("SELECT value FROM store_marks WHERE name = ?", [kind]);
    return textOrNull(row?.value);
  }

  async setAddress(kind: AddressKind, url: string): Promise<void> {
    this.database.send(
      `INSERT INTO store_marks (name, value) VALUES (?, ?)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [kind, url],
    );
  }
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
