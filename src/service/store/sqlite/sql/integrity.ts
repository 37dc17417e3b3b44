import type { Database } from "../engine/database.ts";
import { FIND_MISCOUNTED_STATES } from "./delivery-schema.ts";
import { FIND_MISCOUNTS } from "./list-blocks-schema.ts";
import { FIND_MISCOUNTED_WEBHOOKS } from "./webhook-schema.ts";

/** What is wrong with the whole of a data file, a sentence a finding. */
export function integrityFindings(database: Database): string[] {
  const findings = database.all("PRAGMA integrity_check").map((row) => String(Object.values(row)[0]));
  const orphans = database
    .all("PRAGMA foreign_key_check")
    .map(({ table, parent }) => `a row of ${table} has no ${parent}`);
  const miscounts = [FIND_MISCOUNTS, FIND_MISCOUNTED_STATES, FIND_MISCOUNTED_WEBHOOKS]
    .flatMap((sql) => database.all(sql))
    .map(({ project_id, list }) => `the counts of ${list} in project ${project_id} are wrong`);
  return [...findings.filter((finding) => finding !== "ok"), ...orphans, ...miscounts];
}
