/** Judges one record: the row it becomes, or everything that is wrong with it. */
import type { Json, JsonObject } from "../../contract/json.ts";
import { characterCount } from "../../contract/limits.ts";
import { SPECIAL_PROPERTIES } from "../../contract/special-properties.ts";
import type { Column } from "./header.ts";
import type { InputRecord } from "./records.ts";
import type { ImportRow, RowKind, RowProblem, RowValues } from "./row-kind.ts";
import { RULES, type ValueReaders } from "./rules.ts";

export interface JudgeOptions {
  readonly kind: RowKind;
  readonly columns: readonly Column[];
  readonly readers: ValueReaders;
  /** `--property`: added to every row; a column of that name wins where it has a value. */
  readonly properties: JsonObject;
  /** What flags say for rows that do not: `channel`, `delay`, `send`. */
  readonly defaults: RowValues;
}

export type Verdict = { readonly row: ImportRow } | { readonly problems: readonly RowProblem[] };

export type Judge = (record: InputRecord) => Verdict;

export function createJudge({ kind, columns, readers, properties, defaults }: JudgeOptions): Judge {
  return ({ line, fields }) => {
    if (fields.length !== columns.length) return { problems: [ragged(fields.length, columns.length)] };
    const values: Record<string, Json> = { ...defaults };
    const own: Record<string, Json> = { ...properties };
    const problems: RowProblem[] = [];
    for (const [index, column] of columns.entries()) {
      const cell = takeBack(fields[index] ?? "");
      if (column.target.kind === "ignored") continue;
      if (cell.trim() === "") {
        if (column.target.kind === "field" && isUndecided(column.target.field.name, values)) problems.push(undecided(column.header));
        continue;
      }
      if (column.target.kind === "property") own[column.target.key] = cell;
      else addValue(column, cell, readers, values, problems);
    }
    problems.push(...checkLengths(own), ...(problems.length === 0 ? kind.check(values) : []));
    return problems.length > 0 ? { problems } : { row: { line, identifier: identifierOf(values), values, properties: own } };
  };
}

function ragged(found: number, expected: number): RowProblem {
  return {
    column: "",
    message: `the row has ${found} field${found === 1 ? "" : "s"} and the header ${expected}; is a delimiter or a quote missing?`,
  };
}

/** A spreadsheet guard (`'+1555…`, `'=SUM`) is taken back: the quote was never part of the text. */
function takeBack(cell: string): string {
  return /^'[=+\-@\t]/.test(cell) ? cell.slice(1) : cell;
}

/** A `send` column without a word and without a flag that decides would be a guess. */
function isUndecided(field: string, values: RowValues): boolean {
  return field === "send" && values["send"] === undefined;
}

function undecided(column: string): RowProblem {
  return { column, message: "is empty; give true or false, or decide for such rows with --send or --no-send" };
}

function addValue(column: Column, cell: string, readers: ValueReaders, values: Record<string, Json>, problems: RowProblem[]): void {
  if (column.target.kind !== "field") return;
  const { name, rule } = column.target.field;
  const judged = RULES[rule](rule === "text" ? cell : cell.trim(), readers);
  if ("value" in judged) values[name] = judged.value;
  else problems.push({ column: name, message: judged.problem });
}

function checkLengths(properties: JsonObject): RowProblem[] {
  return SPECIAL_PROPERTIES.flatMap(({ key, olderName, maxLength }) => {
    const value = properties[key] ?? (olderName === undefined ? undefined : properties[olderName]);
    if (maxLength === undefined || typeof value !== "string" || characterCount(value) <= maxLength) return [];
    return [{ column: key, message: `has ${characterCount(value)} characters; at most ${maxLength} are allowed` }];
  });
}

function identifierOf(values: RowValues): string {
  const identifier = values["email"] ?? values["phone_number"] ?? values["person_id"];
  return typeof identifier === "string" ? identifier : "";
}
