import type { SinkTotals } from "../../bulk/export/byte-sink.ts";
import type { Range } from "../../bulk/export/lists.ts";
import type { ExportTotals } from "../../bulk/export/run-export.ts";
import type { Deps } from "../kit/deps.ts";
import { countOf, formatCount } from "../../contract/text/whole-number.ts";
import { type TimeFormatter, timeFormatterFor } from "../render/time.ts";
import type { CountRange } from "./snapshot.ts";

export interface ExportReport {
  readonly noun: string;
  readonly file: string | null;
  readonly range: Range;
  readonly totals: ExportTotals;
  readonly written: SinkTotals;
  readonly counted: CountRange | null;
}

/** On a terminal the report is short, unless `-v` is given. Missing rows are reported even with `-q`. */
export async function writeReport(deps: Deps, report: ExportReport): Promise<void> {
  const { options } = deps;
  const { err } = deps.streams;
  const { noun, totals, counted } = report;
  const missing = describeMissing(noun, totals.counted, { counted, came: "exported" });
  if (missing !== null) await err.write(`warning: ${missing}\n`);
  if (options.quiet) return;
  const isShort = err.isTTY && options.verbosity === 0;
  const time = timeFormatterFor(deps, isShort ? "local" : "iso");
  await err.write(`${formatReport(report, { isShort, time })}\n`);
}

export function describeMissing(
  noun: string,
  rows: number,
  { counted, came }: { readonly counted: CountRange | null; readonly came: "exported" | "sent" },
): string | null {
  if (counted === null || rows >= counted.least) return null;
  return (
    `${countRows(counted.least - rows, noun)} may be missing: ` +
    `the metrics count ${formatCount(counted.least)}, and ${formatCount(rows)} were ${came}`
  );
}

function formatReport(
  { noun, file, range, totals, written, counted }: ExportReport,
  { isShort, time }: { readonly isShort: boolean; readonly time: TimeFormatter },
): string {
  const asked = describeRange(range, time);
  const { firstAt, lastAt } = totals;
  const rows = firstAt === null || lastAt === null ? "" : `${time(firstAt)} – ${time(lastAt)}`;
  const facts = [
    isShort ? toSize(written.bytes) : `${written.bytes} B`,
    ...(asked === "" ? [rows] : isShort ? [asked] : [asked, rows === "" ? "" : `rows ${rows}`]).filter(
      (fact) => fact !== "",
    ),
    ...(isShort ? [] : [`sha256 ${written.sha256}`]),
  ];
  const target = file === null ? "" : ` to ${file}`;
  const agreement = counted === null ? "" : `; ${describeCount(totals, counted)}`;
  return `Exported ${countRows(totals.rows, noun)}${target} (${facts.join(", ")})${agreement}`;
}

function describeRange({ since, until }: Range, time: TimeFormatter): string {
  return [
    ...(since === null ? [] : [`since ${time(since)}`]),
    ...(until === null ? [] : [`until ${time(until)}`]),
  ].join(" ");
}

function describeCount({ rows, counted }: ExportTotals, { least, most }: CountRange): string {
  if (least === counted && most === counted)
    return counted === rows ? "count verified" : `count of ${formatCount(counted)} NPS responses verified`;
  const reported = `the metrics count ${least === most ? formatCount(least) : `${formatCount(least)} to ${formatCount(most)}`}`;
  return counted < least ? reported : `${reported}; data changed during the export`;
}

const SINGULAR: Readonly<Record<string, string>> = { people: "person" };

function countRows(count: number, noun: string): string {
  return countOf(count, SINGULAR[noun] ?? noun.replace(/s$/, ""), noun);
}

const UNITS = ["kB", "MB", "GB", "TB"];

function toSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const power = Math.min(UNITS.length, Math.floor(Math.log10(bytes) / 3));
  const size = bytes / 1000 ** power;
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${UNITS[power - 1] ?? ""}`;
}
