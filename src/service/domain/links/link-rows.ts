import { Rows } from "../../sql/rows.ts";
import type { Properties } from "../../../contract/resources.ts";
import { readRow } from "../../sql/columns.ts";
import type { SqlRow } from "../../sql/database.ts";
import type { Project } from "../inputs.ts";

export interface PublicLink {
  readonly project: Project;
  readonly id: number;
  readonly name: string;
  readonly token: string;
  readonly properties: Properties;
  readonly createdAt: number;
}

const LINK = `SELECT p.id AS "project.id", p.name AS "project.name", l.id, l.name, l.token, l.properties,
  l.created_at AS "createdAt" FROM survey_links l JOIN projects p ON p.id = l.project_id`;

export class LinkRows extends Rows {
  async insert(
    project: number,
    { name, token, properties }: Pick<PublicLink, "name" | "token" | "properties">,
  ): Promise<number> {
    const id = await this.nextId(project);
    this.database.send(
      "INSERT INTO survey_links (project_id, id, name, token, properties, created_at) VALUES (?, ?, ?, ?, ?, ?)",
      [project, id, name, token, JSON.stringify(properties), this.session.now],
    );
    return id;
  }

  async list(project: number): Promise<readonly PublicLink[]> {
    return (await this.database.all(`${LINK} WHERE l.project_id = ? ORDER BY l.id`, [project])).map(toLink);
  }

  async delete(project: number, id: number): Promise<void> {
    this.database.send("DELETE FROM survey_links WHERE project_id = ? AND id = ?", [project, id]);
  }

  async byToken(token: string): Promise<PublicLink | null> {
    const row = await this.database.first(`${LINK} WHERE l.token = ?`, [token]);
    return row === null ? null : toLink(row);
  }
}

function toLink(row: SqlRow): PublicLink {
  return readRow<PublicLink>(row, { json: ["properties"] });
}
