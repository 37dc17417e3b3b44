import { countSendable, type CheckReport } from "../../bulk/import/check/check.ts";
import type { ImportTable } from "../../bulk/import/table/open-table.ts";
import { ConfigError } from "../../config/config-error.ts";
import { resolveConnection } from "../../config/settings.ts";
import { settingsRequest } from "../command/settings-request.ts";
import type { Deps } from "../command/deps.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { writeNote } from "../command/notes.ts";
import { writeDryRun } from "../command/dry-run.ts";
import type { ImportRequest } from "./import-request.ts";

const SHOWN = 3;

/** The first requests as JSON lines, and the counts; nothing is connected to. */
export async function showPlannedRequests(
  deps: Deps,
  table: ImportTable,
  request: ImportRequest,
  report: CheckReport,
): Promise<ExitCode> {
  const baseUrl = await baseUrlOf(deps);
  const sendable = countSendable(report);
  let shown = 0;
  for await (const batch of table.judged()) {
    for (const { verdict } of batch) {
      if (shown >= SHOWN || !("row" in verdict) || report.duplicates.reasonFor(verdict.row.line) !== null) continue;
      await writeDryRun(deps, baseUrl, request.plan(verdict.row, { position: shown, rows: sendable }));
      shown += 1;
    }
    if (shown >= SHOWN) break;
  }
  const skipped = report.rows - sendable;
  await writeNote(
    deps,
    `${sendable} of ${report.rows} rows would be sent, ${skipped} skipped; ${shown} shown; nothing was sent`,
  );
  return EXIT.done;
}

/** Empty, so that paths alone are shown, where no connection is configured or the embedded service would be asked. */
async function baseUrlOf(deps: Deps): Promise<string> {
  try {
    const settings = await resolveConnection(settingsRequest(deps));
    return settings.kind === "local" ? "" : settings.baseUrl.value;
  } catch (error) {
    if (error instanceof ConfigError && error.problem === "missing") return "";
    throw error;
  }
}
