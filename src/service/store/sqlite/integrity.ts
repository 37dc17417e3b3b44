import { FIND_MISCOUNTED } from "../sql/schema/kept-counts.ts";
import type { SqliteDatabase } from "./engine/database.ts";

/** The faults of the whole of a data file, a sentence a finding. */
export function integrityFindings(database: SqliteDatabase): string[] {
  const findings = database.all("PRAGMA integrity_check").map((row) => String(Object.values(row)[0]));
  const orphans = database
    .all("PRAGMA foreign_key_check")
    .map(({ table, parent }) => `a row of ${table} has no ${parent}`);
  const miscounts = FIND_MISCOUNTED.flatMap((sql) => database.all(sql)).map(
    ({ project_id, list }) => `the counts of ${list} in project ${project_id} are wrong`,
  );
  return [...findings.filter((finding) => finding !== "ok"), ...orphans, ...miscounts];
}
