import type { ImportTable } from "../../../bulk/import/open-table.ts";
import type { Verdict } from "../../../bulk/import/judge.ts";
import type { Deps } from "../../deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { toSafeLines } from "../../render/safe-text.ts";
import { countLineEnds } from "../../../bulk/import/record-parser.ts";
import { toDryRunLine } from "../dry-run.ts";
import type { ImportRequest } from "./import-request.ts";

/** One record: its raw text, what each column was taken as, and which rule judged it. Exit 2 when it is invalid. */
export async function explainLine(deps: Deps, table: ImportTable, request: ImportRequest, line: number): Promise<ExitCode> {
  for await (const batch of table.judged()) {
    for (const { record, verdict } of batch) {
      if (line < record.line || line > record.line + record.fields.reduce((sum, field) => sum + countLineEnds(field), 0)) continue;
      await deps.streams.out.write(toSafeLines(explanation(table, record.fields, record.line, verdict, request)));
      return EXIT.done;
    }
  }
  throw new UsageError(`--explain: ${table.input.name} has no row on line ${line}`);
}

function explanation(table: ImportTable, fields: readonly string[], line: number, verdict: Verdict, request: ImportRequest): string {
  const cells = table.mapping.columns.map(({ header, target }, index) => {
    const meaning =
      target.kind === "field"
        ? `${target.field.name} (rule: ${target.field.rule})`
        : target.kind === "property"
          ? `property ${target.key}`
          : "ignored";
    return `  ${header}: ${JSON.stringify(fields[index] ?? null)} -> ${meaning}\n`;
  });
  const raw = fields
    .map((field) => (/[",;\t\n\r]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
    .join(table.input.delimiter ?? ",");
  const judged =
    "problems" in verdict
      ? verdict.problems.map(({ column, message }) => `  invalid: ${column === "" ? "" : `${column}: `}${message}\n`)
      : [`  valid: ${toDryRunLine("", request.plan(verdict.row))}`];
  return `${table.input.name}:${line}: ${raw}\n${cells.join("")}${judged.join("")}`;
}
