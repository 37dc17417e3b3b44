import type { CheckReport } from "../../bulk/import/check/check.ts";
import type { LineRange, ProblemGroup } from "../../bulk/import/check/problem-list.ts";
import type { ImportTable } from "../../bulk/import/table/open-table.ts";
import type { InputError, InputFix } from "../../bulk/import/table/input-file.ts";
import type { Json } from "../../contract/json.ts";
import { countOf, formatCount } from "../../contract/text/whole-number.ts";
import { writeNote, writeWarning } from "../kit/notes.ts";
import type { Deps } from "../kit/deps.ts";
import { localeWarning } from "../kit/survey-properties.ts";
import { isJson } from "../render/encoders.ts";
import { UsageError } from "../errors/usage-error.ts";
import type { CheckedFile } from "./import-request.ts";
import { mapFlags, quoteArgument } from "./mapping.ts";

export async function reportCheck(checked: CheckedFile): Promise<void> {
  const { deps, request, table, report } = checked;
  const { name } = table.input;
  const { skipInvalid } = request.flags;
  const details = report.problems.map((group) => toDetail(name, group));
  const isAllInvalid = report.invalidRows === report.rows;
  const isFatal = report.invalidRows > 0 && (isAllInvalid || !skipInvalid);
  if (!(isFatal && isJson(deps.options.output))) await writeProblems(deps, name, report);
  if (isFatal) for (const quote of describeStrayQuotes(name, report)) await writeWarning(deps, quote);
  const verb = report.invalidRows === 1 ? "is" : "are";
  const invalid = `${formatCount(report.invalidRows)} of ${countOf(report.rows, "row")} ${verb} invalid`;
  if (isFatal)
    throw new UsageError(`${name}: ${invalid}; nothing was sent`, { hint: adviceFor(table, report), details });
  await writeFileNotes(checked);
  if (report.invalidRows > 0) await writeWarning(deps, `${invalid} and will be skipped`);
}

function adviceFor({ mapping }: ImportTable, { invalidRows, rows }: CheckReport): string {
  const fix = invalidRows === rows ? "fix them" : "fix them, or pass --skip-invalid to skip them";
  if (mapping.nearMisses.length === 0) return fix;
  return `${fix}\nor map the columns: ${mapFlags(mapping.nearMisses)}`;
}

async function writeProblems({ streams }: Deps, file: string, report: CheckReport): Promise<void> {
  for (const group of report.problems) await streams.err.write(`${describeGroup(file, group)}\n`);
  const more = report.problemCount - report.problems.reduce((sum, { rows }) => sum + rows, 0);
  if (more > 0) await streams.err.write(`… and ${formatCount(more)} more (use --max-errors N)\n`);
}

function describeGroup(file: string, group: ProblemGroup): string {
  const what = `${group.column === "" ? "" : `${group.column}: `}${group.message}`;
  if (group.rows === 1) return `${file}:${group.ranges[0]?.first ?? 0}: ${what}`;
  return `${file}: lines ${describeRanges(group)} (${formatCount(group.rows)} rows): ${what}`;
}

const RANGES_SHOWN = 5;

function describeRanges({ ranges, isComplete }: ProblemGroup): string {
  const shown = ranges.slice(0, RANGES_SHOWN).map(({ first, last }) => (first === last ? first : `${first}–${last}`));
  return `${shown.join(", ")}${isComplete && ranges.length <= RANGES_SHOWN ? "" : " …"}`;
}

function toDetail(file: string, { column, message, rows, ranges }: ProblemGroup): Json {
  const lines = ranges.map(({ first, last }: LineRange) => [first, last]);
  return { file, line: ranges[0]?.first ?? null, lines, rows, column: column === "" ? null : column, message };
}

export function asUsageError(error: InputError, hasEncoding = false): UsageError {
  const hint = error.hint ?? (error.fix === null ? null : describeFix(error.fix, hasEncoding));
  return new UsageError(error.message, { ...(hint !== null && { hint }), cause: error });
}

function describeFix(fix: InputFix, hasEncoding: boolean): string {
  if (fix.kind === "ignore") return `ignore one of them: --ignore-column ${quoteArgument(fix.header)}`;
  if (fix.kind === "map") return `map the columns: ${mapFlags(fix.columns)}`;
  const convert = `convert it: iconv -f ${fix.encoding} -t UTF-8 < old.csv > new.csv`;
  return `save the file as "CSV UTF-8", or ${hasEncoding ? `pass --encoding ${fix.encoding.toLowerCase()}` : convert}`;
}

const UNEVEN = "shorter or longer than the header: missing cells count as empty, empty extra cells are ignored";
const OPTED_OUT = "of people who opted out or bounced will be skipped; --include-suppressed sends them";

async function writeFileNotes(checked: CheckedFile): Promise<void> {
  const { deps, request, table, report } = checked;
  const { overriddenRows, guardedCells, formulaCells, emptyRows, unevenRows, duplicates } = report;
  for (const group of report.unsaved) await writeNote(deps, describeGroup(table.input.name, group));
  const optedOut = report.rows - report.invalidRows - duplicates - report.sendable;
  const them = guardedCells === 1 ? "it" : "them";
  const notes = [
    [overriddenRows, `--no-send overrides send=yes in ${countOf(overriddenRows, "row")}`],
    [emptyRows, `${countOf(emptyRows, "row has", "rows have")} empty cells only: skipped`],
    [unevenRows, `${countOf(unevenRows, "row is", "rows are")} ${UNEVEN}`],
    [guardedCells, `${countOf(guardedCells, "cell")} lost a leading ' that guarded ${them} in a spreadsheet`],
    [formulaCells, `${countOf(formulaCells, 'cell is ="…"', 'cells are ="…"')}: read as the text in quotes`],
    [optedOut, `${countOf(optedOut, "row")} ${OPTED_OUT}`],
  ] as const;
  for (const [number, note] of notes) if (number > 0) await writeNote(deps, note);
  if (request.kind.properties === "properties") await warnOfLocales(checked);
  if (duplicates === 0 || request.flags.onDuplicate !== null) return;
  const kept = duplicates === 1 ? "the first occurrence is kept" : "the first occurrence of each is kept";
  const same = request.kind.repeats === "answer" ? "same answer" : "same person";
  await writeWarning(deps, `${countOf(duplicates, "duplicate row")} (${same}); ${kept}`);
}

export function describeWarnings(file: string, report: CheckReport): string[] {
  const { doubts, optOutLookalikes } = report;
  return [
    ...describeStrayQuotes(file, report),
    ...doubts.map((group) => describeGroup(file, group)),
    ...optOutLookalikes.map((header) => `column "${header}" looks like an opt-out, but has no effect`),
  ];
}

/** Warned about only in the plan, because it matters only if the file is imported again. */
export function describeUntimed({ untimedRows }: CheckReport): string[] {
  if (untimedRows === 0) return [];
  const rows = countOf(untimedRows, "row has", "rows have");
  return [`${rows} no created_at: if imported again, repeats can't be recognised by the service`];
}

function describeStrayQuotes(file: string, { strayQuotes }: CheckReport): string[] {
  return strayQuotes.map(({ line, column, lineEnds }) => {
    const cell = column === "" ? "a cell" : `column "${column}"`;
    const length = countOf(lineEnds, "line end");
    return `${file}: line ${line}: a quote is probably missing; ${cell} contains ${length}`;
  });
}

async function warnOfLocales({ deps, request, table, report }: CheckedFile): Promise<void> {
  const ofFlag = localeWarning(request.flags.properties, "--property");
  if (ofFlag !== null) await writeWarning(deps, ofFlag);
  for (const { locale, line, rows } of report.oddLocales) {
    const warning = localeWarning({ locale }, `${table.input.name}:${line}: locale`);
    await writeWarning(deps, `${warning}${rows > 1 ? ` (${countOf(rows, "row")})` : ""}`);
  }
}
