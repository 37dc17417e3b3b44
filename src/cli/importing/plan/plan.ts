import { countDecisions, type Plan, type RowSource } from "../../../bulk/import/journal/decide-rows.ts";
import { drawSample } from "../../../bulk/import/sample.ts";
import { JournalState } from "../../../bulk/import/journal/journal-state.ts";
import type { Client } from "../../../client/client.ts";
import { countOf, formatCount } from "../../../contract/text/whole-number.ts";
import { confirm, writeDone, writeWarning } from "../../kit/notes.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { CheckedFile, ImportRequest, OpenedFile } from "../import-request.ts";
import { describeChanges, describePreview, type ImportPreview } from "./preview.ts";
import { describeUntimed, describeWarnings } from "../problems.ts";

/** Without a terminal, a flag or a column must give consent; `--yes` isn't enough. Throws UsageError. */
export function checkConsent({ deps: { streams }, request: { command, consent }, table }: OpenedFile): void {
  if (consent === undefined || consent.isGiven || (streams.in.isTTY && streams.err.isTTY)) return;
  if (table.mapping.columns.some(({ target }) => target.kind === "field" && target.field.name === consent.column))
    return;
  throw new UsageError(`${command} ${consent.advice}`, { hint: "--dry-run shows what would be sent" });
}

export function chooseRows({ request, table, report }: CheckedFile): RowSource & { readonly rows: number } {
  const { sample = null } = request;
  const all = { table, before: new JournalState(), skip: report.reasonToSkip, rows: report.sendable };
  return sample === null ? all : { ...all, ...drawSample(report, sample, table.input.sha256 ?? "") };
}

export interface PlannedRun {
  readonly place: string;
  readonly profile: string | null;
  readonly source: RowSource;
  readonly preview: () => Promise<ImportPreview | null>;
}

export async function writeForecast(
  { deps, request: { forecast }, report }: CheckedFile,
  { source }: PlannedRun,
  client: Client,
): Promise<void> {
  if (forecast === undefined || deps.options.quiet) return;
  const { emails, texts, quiet } = countDecisions(report, source);
  const rows = emails + texts + quiet;
  const line = rows === 0 ? null : await forecast(client, rows);
  if (line !== null) await writeDone(deps, line);
}

export async function askWithPlan(checked: CheckedFile, run: PlannedRun): Promise<void> {
  const { deps, request, table, report } = checked;
  const { streams } = deps;
  if (request.flags.yes || !streams.in.isTTY || !streams.err.isTTY) {
    for (const warning of describeWarnings(table.input.name, report)) await writeWarning(deps, warning);
    return;
  }
  const { plan, lines, unsurveyed } = await describePlan(checked, run);
  await streams.err.write(lines.join(""));
  const addition = unsurveyed === "" ? "" : ` ${unsurveyed} will be saved without a survey`;
  if (plan.emails + plan.texts + plan.quiet > 0) await confirm(deps, `${questionOf(request, plan)}${addition}`);
}

export interface DescribedPlan extends Pick<PlannedRun, "source"> {
  readonly plan: Plan;
  readonly lines: readonly string[];
  readonly changes: readonly string[];
  /** Why some rows get no survey; empty if the service doesn't say. */
  readonly unsurveyed: string;
}

export async function describePlan(
  { deps, request, table, report }: CheckedFile,
  { place, profile, source, preview: readPreview }: PlannedRun,
): Promise<DescribedPlan> {
  const counted = countDecisions(report, source);
  const preview = counted.emails + counted.texts + counted.quiet > 0 ? await readPreview() : null;
  const plan = preview === null ? counted : withPreview(counted, preview);
  const counts: readonly (readonly [name: string, count: number])[] = [
    ["Rows", plan.rows],
    ...(request.kind.sendsSurveys
      ? ([
          ["Emails", plan.emails],
          ["Text messages", plan.texts],
          ["No survey", plan.quiet],
        ] as const)
      : []),
    ["Skipped", plan.skipped],
    ...(plan.done > 0 ? [["Already done", plan.done] as const] : []),
  ];
  const changes = preview === null ? [] : describeChanges(preview);
  const isPaused = preview !== null && preview.reasons.paused > 0;
  const lines = [
    ...(place === "" ? [] : [toLine("Service", `${place}${profile === null ? "" : ` (profile ${profile})`}`)]),
    ...counts.map(([name, count]) => toLine(name, formatCount(count))),
    ...changes.map((change) => toLine("Properties", change)),
    ...(isPaused ? [toLine("Paused", "surveys wait until sending is resumed")] : []),
    ...[...describeWarnings(table.input.name, report), ...describeUntimed(report)].map((warning) =>
      toLine("Warning", warning),
    ),
  ];
  const unsurveyed = preview === null ? "" : describePreview(preview, deps.options.timeZone);
  return { source, plan, lines, changes, unsurveyed };
}

function withPreview(plan: Plan, { emails, texts }: ImportPreview): Plan {
  return { ...plan, emails: plan.emails - emails, texts: plan.texts - texts, quiet: plan.quiet + emails + texts };
}

const NAME_WIDTH = 16;

function toLine(name: string, text: string): string {
  return `${name.padEnd(NAME_WIDTH)}${text}\n`;
}

function questionOf({ kind, question }: ImportRequest, { emails, texts, quiet }: Plan): string {
  if (!kind.sendsSurveys || emails + texts === 0) return question(emails + texts + quiet);
  const surveys = [
    ...(emails > 0 ? [countOf(emails, "email")] : []),
    ...(texts > 0 ? [countOf(texts, "text message")] : []),
  ];
  return `Send ${surveys.join(" and ")}?`;
}
