import { type CheckReport, checkTable } from "../../bulk/import/check/check.ts";
import type { ImportRow, InvalidRow } from "../../bulk/import/check/row-kind.ts";
import type { ImportTable } from "../../bulk/import/table/open-table.ts";
import { readRawLines } from "../../bulk/import/table/records.ts";
import type { InputRecord } from "../../bulk/import/table/record-parser.ts";
import type { Deps } from "../kit/deps.ts";
import { UsageError } from "../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { toSafeLines } from "../render/safe-text.ts";
import { toDryRunLine } from "../kit/write-outcome.ts";
import { meaningOf } from "./mapping.ts";
import { checkOptions, type ImportRequest } from "./import-request.ts";

/** Shows a row's text, what its columns mean and what would be sent. Throws UsageError. */
export async function explainLine(
  deps: Deps,
  table: ImportTable,
  request: ImportRequest,
  line: number,
): Promise<ExitCode> {
  const report = await checkTable(table, checkOptions(deps, request));
  let position = 0;
  for await (const batch of table.records()) {
    deps.signal.throwIfAborted();
    for (const record of batch) {
      const row = table.validate(record);
      if (line >= record.line && line <= lastLine(record)) {
        const outcome = describe(row, report, request, position);
        await deps.streams.out.write(
          toSafeLines(`${await rawText(table, record)}${describeCells(table, record)}${outcome}`),
        );
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

async function rawText({ input }: ImportTable, record: InputRecord): Promise<string> {
  return `${input.name}:${record.line}: ${await readRawLines(input, record.line, lastLine(record))}\n`;
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
