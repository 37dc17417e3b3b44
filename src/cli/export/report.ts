/** The closing line of an export. */
import type { SinkTotals } from "../../bulk/export/byte-sink.ts";
import type { ExportTotals } from "../../bulk/export/run-export.ts";
import { createTimeFormatter } from "../render/time.ts";

export interface ExportReport {
  readonly noun: string;
  /** Null: stdout. */
  readonly file: string | null;
  readonly totals: ExportTotals;
  readonly written: SinkTotals;
  /** What the service counts; null when it counts nothing like these rows. */
  readonly counted: number | null;
}

export function formatReport({ noun, file, totals, written, counted }: ExportReport): string {
  const iso = createTimeFormatter({ format: "iso", zone: null, now: 0 });
  const parts = [
    `exported ${totals.rows} ${noun}${file === null ? "" : ` to ${file}`}`,
    ...(totals.firstAt === null || totals.lastAt === null ? [] : [`${iso(totals.firstAt)} to ${iso(totals.lastAt)}`]),
    `${written.bytes} bytes`,
    `sha256 ${written.sha256}`,
    ...(counted === null ? [] : [agreement(totals.rows, counted)]),
  ];
  return `${parts.join(", ")}\n`;
}

function agreement(rows: number, counted: number): string {
  return counted === rows
    ? `the service counts ${counted} too`
    : `the service counts ${counted}: rows came or went during the export`;
}
