import type { Database } from "../engine/database.ts";

/** Counts the project's ids on by one: rising within it, telling nothing about others. */
export function nextId(database: Database, project: number): number {
  const [row] = database.returning(
    "UPDATE projects SET next_id = next_id + 1 WHERE id = ? RETURNING next_id - 1 AS id",
    [project],
  );
  if (row === undefined) throw new Error(`there is no project ${project}`);
  return Number(row.id);
}

/** Takes an id over from another service: later ones are counted from above it. */
export function reserveId(database: Database, project: number, id: number): number {
  database.run("UPDATE projects SET next_id = ? WHERE id = ? AND next_id <= ?", [id + 1, project, id]);
  return id;
}
