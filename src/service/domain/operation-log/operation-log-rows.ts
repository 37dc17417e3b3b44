import { Rows } from "../../sql/rows.ts";
import type { SqlValue } from "../../sql/database.ts";
import type { Project } from "../inputs.ts";

/** The command line has a null key and the system user's name. */
export interface Actor {
  readonly key: number | null;
  readonly name: string | null;
}

/** What was done, without anything that an erasure would have to remove. */
export interface Deed {
  readonly operation: string;
  /** Ids, and names of fields. */
  readonly what: string;
  /** JSON of numbers, times and booleans, or null. */
  readonly result: string | null;
}

export interface LogLine extends Deed, Actor {
  readonly id: number;
  readonly at: number;
  readonly project: string;
}

/** What an API call deleted or overwrote. Domain code adds these to `Transaction.overwritten`. */
export interface Overwritten {
  readonly operation: string;
  readonly id: number;
  readonly fields: readonly string[];
}

export interface LogFilter {
  readonly since: number | null;
  readonly by: "command line" | Partial<Actor> | null;
  /** `*` stands for any text. */
  readonly operation: string | null;
  /** Only lines with smaller ids. */
  readonly before: number | null;
  readonly limit: number;
}

/**
 * Log lines have their own series of ids, so that these reveal nothing about other rows, and other writes don't wait
 * for the log.
 */
export class OperationLogRows extends Rows {
  /** Writes that lock their projects use odd ids, others even ones, so that neither waits for the other. */
  add(projects: readonly Project[], { key, name }: Actor, deeds: readonly Deed[], locks: "none" | "all"): void {
    const next = locks === "none" ? "max(id) / 2 * 2 + 2, 2" : "(max(id) + 1) / 2 * 2 + 1, 1";
    const sql = `INSERT INTO operation_log (project_id, id, at, project, operation, key_id, name, what, result)
      SELECT ?, coalesce(${next}), ?, ?, ?, ?, ?, ?, ? FROM operation_log WHERE project_id = ?`;
    const { now } = this.session;
    for (const { id, name: project } of projects)
      for (const { operation, what, result } of deeds)
        this.database.send(sql, [id, now, project, operation, key, name, what, result, id]);
  }

  async list(project: number, { since, by, operation, before, limit }: LogFilter): Promise<readonly LogLine[]> {
    const wanted: [string, SqlValue][] = [
      ["at >= ?", since],
      ["operation LIKE ? ESCAPE '!'", operation?.replaceAll(/[!%_]/g, "!$&").replaceAll("*", "%") ?? null],
      ["id < ?", before],
      ...(typeof by === "object" && by !== null ? actorConditions(by) : []),
    ];
    const given = wanted.filter(([, value]) => value !== null);
    const conditions = [...given.map(([condition]) => condition), ...(by === "command line" ? ["key_id IS NULL"] : [])];
    const narrowed = conditions.map((condition) => ` AND ${condition}`).join("");
    return (await this.database.all(
      `SELECT id, at, project, operation, key_id AS "key", name, what, result FROM operation_log
        WHERE project_id = ?${narrowed} ORDER BY id DESC LIMIT ?`,
      [project, ...given.map(([, value]) => value), limit],
    )) as unknown as LogLine[];
  }

  /** The last project that was removed under this name, or null. */
  async removedProject(name: string): Promise<Project | null> {
    return (await this.database.first(
      `SELECT project_id AS id, project AS name FROM operation_log WHERE operation = 'project.remove' AND project = ?
        ORDER BY at DESC LIMIT 1`,
      [name],
    )) as Project | null;
  }

  async prune(project: number, before: number, limit: number): Promise<number> {
    return this.database.run(
      `DELETE FROM operation_log WHERE project_id = ? AND id IN
        (SELECT id FROM operation_log WHERE project_id = ? AND at < ? ORDER BY at LIMIT ?)`,
      [project, project, before, limit],
    );
  }

  async count(project: number, before: number): Promise<number> {
    const sql = "SELECT count(*) AS n FROM operation_log WHERE project_id = ? AND at < ?";
    return Number((await this.database.first(sql, [project, before]))?.n);
  }
}

function actorConditions({ key, name }: Partial<Actor>): [string, SqlValue][] {
  return [key === undefined ? ["key_id IS NOT NULL AND name = ?", name ?? ""] : ["key_id = ?", key]];
}
