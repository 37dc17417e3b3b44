import { FIND_MISCOUNTED } from "../../sql/lists/recount.ts";
import type { Look } from "./engine/engine.ts";

export function integrityFindings(look: Look): string[] {
  const findings = look("integrity_check", "FROM pragma_integrity_check").map(([finding]) => String(finding));
  const orphans = look('"table", parent', "FROM pragma_foreign_key_check").map(
    ([table, parent]) => `a row of ${table} has no ${parent}`,
  );
  // Files of older versions have no stored counts to check; they are counted when the file is opened.
  const areCounted = look("1", "FROM sqlite_master WHERE name = 'row_counts'").length > 0;
  const miscounts = (areCounted ? look("project_id, list", `FROM (${FIND_MISCOUNTED})`) : []).map(
    ([project, list]) => `the counts of ${list} in project ${project} are wrong`,
  );
  return [...findings.filter((finding) => finding !== "ok"), ...orphans, ...miscounts];
}
