/** The plan of an import, counted before anything leaves: shown by `--dry-run`, asked on a terminal. */
import { type CheckReport, countSendable } from "../../bulk/import/check/check.ts";
import { wayOf } from "../../bulk/import/check/row-kind.ts";
import { decideRows, type RowSource } from "../../bulk/import/journal/decide-rows.ts";
import { drawSample } from "../../bulk/import/sample.ts";
import { emptyJournal } from "../../bulk/import/journal/journal-state.ts";
import type { ImportTable } from "../../bulk/import/table/open-table.ts";
import type { Client } from "../../client/client.ts";
import { ConfigError } from "../../config/config-error.ts";
import { resolveConnection } from "../../config/settings.ts";
import { confirm, countOf, formatCount, writeDone, writeNote, writeWarning } from "../command/notes.ts";
import { type Deps, settingsRequest } from "../command/deps.ts";
import { writeDryRun } from "../command/write-outcome.ts";
import { UsageError } from "../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { ImportRequest } from "./import-request.ts";
import { describeChanges, describeOutlook, type Outlook } from "./outlook.ts";
import { describeDoubts, describeStrayQuotes } from "./problems.ts";

/**
 * Off a terminal, flags or a column must give consent; `--yes` only answers the question of a terminal. Throws
 * UsageError, before the file is checked.
 */
export function checkConsent({ streams }: Deps, table: ImportTable, request: ImportRequest): void {
  if (hasConsent(table, request)) return;
  if (streams.in.isTTY && streams.err.isTTY) return;
  throw new UsageError(`${request.command} ${request.guardAdvice}`, { hint: "--dry-run shows what would be sent" });
}

function hasConsent(table: ImportTable, { consented, consentColumn }: ImportRequest): boolean {
  return (
    consented ||
    table.mapping.columns.some(({ target }) => target.kind === "field" && target.field.name === consentColumn)
  );
}

/** The rows that a run would send, and their number: all that are valid and no duplicates, or a sample of them. */
export async function chooseRows(
  { sample = null }: ImportRequest,
  table: ImportTable,
  report: CheckReport,
): Promise<RowSource & { readonly rows: number }> {
  const all: RowSource = { table, before: emptyJournal(), skip: report.duplicates.reasonFor };
  if (sample === null) return { ...all, rows: countSendable(report) };
  return { ...all, ...(await drawSample(all, sample)) };
}

/** The number of rows for each way. */
interface Plan {
  rows: number;
  emails: number;
  texts: number;
  quiet: number;
  skipped: number;
  /** A previous run settled them. */
  done: number;
}

async function countRows(source: RowSource, signal: AbortSignal): Promise<Plan> {
  const plan: Plan = { rows: 0, emails: 0, texts: 0, quiet: 0, skipped: 0, done: 0 };
  for await (const decision of decideRows(source)) {
    signal.throwIfAborted();
    plan.rows += 1;
    if (decision.kind === "send") plan[wayOf(decision.row.values)] += 1;
    else plan[decision.kind === "skip" ? "skipped" : "done"] += 1;
  }
  return plan;
}

export interface PlanContext {
  /** The name of the service in messages. */
  readonly place: string;
  /** The profile that the connection comes from; null for none. */
  readonly profile: string | null;
  readonly report: CheckReport;
  readonly source: RowSource;
  /** Null if the service doesn't offer it. */
  readonly outlook: () => Promise<Outlook | null>;
}

/** On stderr, for a noun that has one; `--quiet` silences it. */
export async function writeForecast(
  deps: Deps,
  { forecast }: ImportRequest,
  { client, source }: { readonly client: Client; readonly source: RowSource },
): Promise<void> {
  if (forecast === undefined || deps.options.quiet) return;
  const { emails, texts, quiet } = await countRows(source, deps.signal);
  const rows = emails + texts + quiet;
  const line = rows === 0 ? null : await forecast(client, rows);
  if (line !== null) await writeDone(deps, line);
}

/** On a terminal the plan is shown and confirmed; `--yes` skips the question. Throws CancelledError when declined. */
export async function askWithPlan(deps: Deps, request: ImportRequest, context: PlanContext): Promise<void> {
  const { streams, options } = deps;
  if (request.flags.yes || !streams.in.isTTY || !streams.err.isTTY) return;
  const counted = await countRows(context.source, deps.signal);
  const outlook = counted.emails + counted.texts + counted.quiet > 0 ? await context.outlook() : null;
  const plan = outlook === null ? counted : withOutlook(counted, outlook);
  const profile = context.profile === null ? "" : ` (profile ${context.profile})`;
  const counts = [
    ["Rows", plan.rows],
    ...(request.kind.sendsSurveys
      ? [["Emails", plan.emails] as const, ["Text messages", plan.texts] as const, ["No survey", plan.quiet] as const]
      : []),
    ["Skipped", plan.skipped],
    ...(plan.done > 0 ? [["Already done", plan.done] as const] : []),
  ] as const;
  const lines = [
    toLine("Service", `${context.place}${profile}`),
    ...counts.map(([name, count]) => toLine(name, formatCount(count))),
    ...(outlook === null ? [] : describeChanges(outlook).map((change) => toLine("Properties", change))),
    ...(outlook !== null && outlook.reasons.paused > 0
      ? [toLine("Paused", "surveys wait until sending is resumed")]
      : []),
    ...[describeStrayQuotes, describeDoubts, describeUntimed].flatMap((describe) =>
      describe(context.report).map((warning) => toLine("Warning", warning)),
    ),
  ];
  await streams.err.write(lines.join(""));
  const refused = outlook === null ? "" : describeOutlook(outlook, options.timeZone);
  const addition = refused === "" ? "" : ` ${refused} will be saved without a survey`;
  if (plan.emails + plan.texts + plan.quiet > 0) await confirm(deps, `${questionOf(request, plan)}${addition}`);
}

function describeUntimed({ untimedRows }: CheckReport): string[] {
  if (untimedRows === 0) return [];
  const rows = countOf(untimedRows, "row has", "rows have");
  return [`${rows} no created_at: if imported again, repeats can't be recognised by the service`];
}

/** Rows whose people would be sent no survey are saved without one. */
function withOutlook(plan: Plan, { emails, texts }: Outlook): Plan {
  return { ...plan, emails: plan.emails - emails, texts: plan.texts - texts, quiet: plan.quiet + emails + texts };
}

const NAME_WIDTH = 16;

function toLine(name: string, text: string): string {
  return `${name.padEnd(NAME_WIDTH)}${text}\n`;
}

function questionOf({ kind, question }: ImportRequest, { emails, texts, quiet }: Plan): string {
  if (!kind.sendsSurveys || emails + texts === 0) return question(emails + texts + quiet);
  return `Send ${describeSurveys(emails, texts)}?`;
}

/** `1,946 emails and 54 text messages`. */
function describeSurveys(emails: number, texts: number): string {
  const parts = [
    ...(emails > 0 || texts === 0 ? [countOf(emails, "email", "emails")] : []),
    ...(texts > 0 ? [countOf(texts, "text message", "text messages")] : []),
  ];
  return parts.join(" and ");
}

const SHOWN = 3;

/** The first requests as JSON lines, and the counts; nothing is connected to. */
export async function showPlannedRequests(
  deps: Deps,
  table: ImportTable,
  request: ImportRequest,
  report: CheckReport,
): Promise<ExitCode> {
  const baseUrl = await baseUrlOf(deps);
  const source = await chooseRows(request, table, report);
  const sendable = source.rows;
  const shown = Math.min(SHOWN, sendable);
  let left = shown;
  for await (const decision of decideRows(source)) {
    if (left === 0) break;
    if (decision.kind !== "send") continue;
    const { row } = decision;
    await writeDryRun(deps, baseUrl, request.plan(row, { position: row.position, rows: sendable }));
    left -= 1;
  }
  const { emails, texts, quiet } = await countRows(source, deps.signal);
  for (const warning of describeUntimed(report)) await writeWarning(deps, warning);
  await writeNote(deps, describeDryRun(request, report.rows, { emails, texts, quiet, shown }));
  return EXIT.done;
}

interface Planned extends Pick<Plan, "emails" | "texts" | "quiet"> {
  readonly shown: number;
}

function describeDryRun({ kind }: ImportRequest, rows: number, { emails, texts, quiet, shown }: Planned): string {
  const skipped = rows - emails - texts - quiet;
  const parts = kind.sendsSurveys
    ? [
        countOf(emails, "email", "emails"),
        countOf(texts, "text message", "text messages"),
        `${formatCount(quiet)} with no survey`,
      ]
    : [countOf(emails + texts + quiet, "request", "requests")];
  const all = [...parts, `${formatCount(skipped)} skipped`].join(", ");
  const requests = countOf(shown, "request", "requests");
  return `${countOf(rows, "row", "rows")}: ${all}; ${requests} shown, nothing was sent`;
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
