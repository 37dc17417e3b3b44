/** An import mails real customers: nothing leaves before somebody has said so. */
import { decideRows, type JobOptions } from "../../bulk/import/journal/job-source.ts";
import type { ImportTable } from "../../bulk/import/table/open-table.ts";
import type { RowValues } from "../../bulk/import/check/row-kind.ts";
import type { Deps } from "../command/deps.ts";
import { UsageError } from "../errors/usage-error.ts";
import { confirm } from "../command/confirm.ts";
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
  return (
    decided ||
    table.mapping.columns.some(({ target }) => target.kind === "field" && target.field.name === decidingColumn)
  );
}

/** How many rows go which way. */
interface Plan {
  rows: number;
  email: number;
  sms: number;
  quiet: number;
  skipped: number;
  /** A former run settled them. */
  done: number;
}

/** On a terminal the plan is shown and confirmed; `--yes` skips the question. Throws UsageError when declined. */
export async function askWithPlan(deps: Deps, request: ImportRequest, place: string, jobs: JobOptions): Promise<void> {
  const { streams } = deps;
  if (request.flags.yes || !streams.in.isTTY || !streams.err.isTTY) return;
  const plan = await countRows(jobs, deps.signal);
  const lines = [
    `Connection         ${place}`,
    `Rows               ${plan.rows}`,
    ...(request.kind.name === "people"
      ? [`Survey by e-mail   ${plan.email}`, `Survey by SMS      ${plan.sms}`, `Without a survey   ${plan.quiet}`]
      : []),
    `Skipped            ${plan.skipped}`,
    ...(plan.done > 0 ? [`Done already       ${plan.done}`] : []),
  ];
  await streams.err.write(`${lines.join("\n")}\n`);
  await confirm(deps, "Go on?");
}

async function countRows(jobs: JobOptions, signal: AbortSignal): Promise<Plan> {
  const plan: Plan = { rows: 0, email: 0, sms: 0, quiet: 0, skipped: 0, done: 0 };
  for await (const decision of decideRows(jobs)) {
    signal.throwIfAborted();
    plan.rows += 1;
    if (decision.kind === "job") plan[wayOf(decision.job.row.values)] += 1;
    else plan[decision.kind === "skip" ? "skipped" : "done"] += 1;
  }
  return plan;
}

/** Without an address nothing can be sent by e-mail, which is what no channel means (4.2). */
function wayOf({ send, channel, email }: RowValues): "email" | "sms" | "quiet" {
  if (send === false || (channel !== "sms" && email === undefined)) return "quiet";
  return channel === "sms" ? "sms" : "email";
}
