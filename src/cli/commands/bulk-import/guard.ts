/** An import mails real customers: nothing leaves before somebody has said so. */
import type { CheckReport } from "../../../bulk/import/check.ts";
import type { ImportTable } from "../../../bulk/import/open-table.ts";
import type { RowValues } from "../../../bulk/import/row-kind.ts";
import type { Deps } from "../../deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { confirm } from "../confirm.ts";
import type { ImportRequest } from "./import-request.ts";

/** Off a terminal somebody must have decided; `--yes` only answers the question of a terminal. Throws UsageError, before the file is checked. */
export function checkDecided({ streams }: Deps, table: ImportTable, request: ImportRequest): void {
  if (isDecided(table, request)) return;
  if (streams.in.isTTY && streams.err.isTTY) return;
  throw new UsageError(`${request.command} needs a word before it does anything: ${request.guardAdvice}`, {
    hint: "--dry-run shows what would be sent",
  });
}

function isDecided(table: ImportTable, { decided, decidingColumn }: ImportRequest): boolean {
  return decided || table.mapping.columns.some(({ target }) => target.kind === "field" && target.field.name === decidingColumn);
}

/** How many rows go which way; counted while the file is checked. */
export interface PlanCounts {
  email: number;
  sms: number;
  quiet: number;
}

export function countRow(counts: PlanCounts, values: RowValues): void {
  if (values["send"] === false) counts.quiet += 1;
  else if (values["channel"] === "sms") counts.sms += 1;
  else counts.email += 1;
}

/** On a terminal the plan is shown and confirmed; `--yes` skips the question. Throws UsageError when declined. */
export async function askWithPlan(
  deps: Deps,
  request: ImportRequest,
  place: string,
  report: CheckReport,
  counts: PlanCounts,
): Promise<void> {
  const { streams } = deps;
  if (request.flags.yes || !streams.in.isTTY || !streams.err.isTTY) return;
  const skipped = report.invalidRows + report.duplicates.size;
  const lines = [
    `Connection         ${place}`,
    `Rows               ${report.rows}`,
    ...(request.kind.name === "people"
      ? [`Survey by e-mail   ${counts.email}`, `Survey by SMS      ${counts.sms}`, `Without a survey   ${counts.quiet}`]
      : []),
    `Skipped            ${skipped}`,
  ];
  await streams.err.write(`${lines.join("\n")}\n`);
  await confirm(deps, "Go on?");
}
