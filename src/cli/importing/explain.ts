import type { CheckReport } from "../../bulk/import/check/check.ts";
import type { ImportRow, InvalidRow } from "../../bulk/import/check/row-kind.ts";
import type { ImportTable } from "../../bulk/import/table/open-table.ts";
import { readRawLines } from "../../bulk/import/table/records.ts";
import type { InputRecord } from "../../bulk/import/table/record-parser.ts";
import { UsageError } from "../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { toSafeLines } from "../render/safe-text.ts";
import { toDryRunLine } from "../kit/write-outcome.ts";
import { meaningOf } from "./mapping.ts";
import { checkFile, type ImportRequest, type OpenedFile } from "./import-request.ts";

export async function explainLine(opened: OpenedFile, line: number): Promise<ExitCode> {
  const { deps, request, table } = opened;
  const report = await checkFile(opened);
  let position = 0;
  for await (const batch of table.records()) {
    deps.signal.throwIfAborted();
    for (const record of batch) {
      const row = table.validate(record);
      if (line >= record.line && line <= lastLine(record)) {
        const { input } = table;
        const raw = `${input.name}:${record.line}: ${await readRawLines(input, record.line, lastLine(record))}\n`;
        const outcome = describe(row, report, request, position);
        await deps.streams.out.write(toSafeLines(raw + describeCells(table, record) + outcome));
        return EXIT.done;
      }
      if (!("problems" in row) && report.reasonToSkip(row.line) === null) position += 1;
    }
  }
  throw new UsageError(`--explain: ${table.input.name} has no row on line ${line}`);
}

function lastLine({ line, lineEnds }: InputRecord): number {
  return line + lineEnds;
}

function describeCells({ mapping }: ImportTable, { fields, problem }: InputRecord): string {
  if (problem !== undefined) return "";
  const cells = mapping.columns.map(({ header, target }, index) => {
    const rule = target.kind === "field" ? ` (rule: ${target.field.rule})` : "";
    return `  ${header}: ${JSON.stringify(fields[index] ?? null)} -> ${meaningOf(mapping, index)}${rule}\n`;
  });
  return cells.join("");
}

function describe(row: ImportRow | InvalidRow, report: CheckReport, request: ImportRequest, position: number): string {
  if ("problems" in row)
    return row.problems
      .map(({ column, message }) => `  invalid: ${column === "" ? "" : `${column}: `}${message}\n`)
      .join("");
  const other = report.reasonToSkip(row.line);
  if (other !== null) return `  not sent: ${other}\n`;
  return `  valid: ${toDryRunLine("", request.plan(row, { position, rows: report.sendable }))}`;
}
