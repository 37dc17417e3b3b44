/** Judges one record: the row it becomes, or everything that is wrong with it. */
import { isJsonObject, type Json, type JsonObject } from "../../../contract/json.ts";
import { characterCount } from "../../../contract/limits.ts";
import { SPECIAL_PROPERTIES } from "../../../contract/special-properties.ts";
import type { Column } from "../table/header.ts";
import type { InputRecord } from "../table/record-parser.ts";
import type { CellValue, FieldRule, ImportRow, RowKind, RowProblem, RowValues } from "./row-kind.ts";
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

/** What the fields of a valid record say, until the next one is read. */
export type Reading = { readonly values: RowValues } | { readonly problems: readonly RowProblem[] };

export interface Judge {
  judge(record: InputRecord): Verdict;
  /** The same judgement with nothing made for it: a million rows are checked before one is sent. */
  read(record: InputRecord): Reading;
}

/** What `read` gives is overwritten by the next record; what `judge` gives is not. */
export function createJudge(options: JudgeOptions): Judge {
  const read = createReader(options);
  const cells = propertyCells(options.columns);
  return {
    read,
    judge(record) {
      const reading = read(record);
      if ("problems" in reading) return reading;
      const properties = readProperties(cells, record.fields, options.properties);
      return {
        row: {
          line: record.line,
          identifier: identifierOf(reading.values),
          values: present(reading.values),
          properties,
        },
      };
    },
  };
}

/** A whole map in one cell, as an export writes it, gives way to columns of their own. */
function readProperties(cells: readonly PropertyCell[], fields: readonly string[], common: JsonObject): JsonObject {
  let all = common;
  // Without a prototype, so that a key named `__proto__` is only a key.
  const own = Object.create(null) as Record<string, Json>;
  for (const { index, key } of cells) {
    const cell = takeBack(fields[index] ?? "");
    if (isBlank(cell)) continue;
    if (isMapColumn(key)) all = { ...all, ...parseMap(cell) };
    else own[key] = cell;
  }
  return { ...all, ...own };
}

/** `person_properties` of an export holds them all as JSON. */
function isMapColumn(key: string): boolean {
  return key === "properties" || key === "person_properties";
}

function parseMap(cell: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(cell);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function checkMap({ index, key }: PropertyCell): (cells: readonly string[]) => RowProblem | null {
  return (cells) => {
    const cell = takeBack(cells[index] ?? "");
    if (isBlank(cell) || cell === "null" || parseMap(cell) !== null) return null;
    return { column: key, message: `${JSON.stringify(cell)} is not a JSON object, as in {"plan":"pro"}` };
  };
}

function present(values: RowValues): RowValues {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** What messages and results call a row's person; empty when nobody is named. */
export function identifierOf(values: RowValues): string {
  return String(values["email"] ?? values["phone_number"] ?? values["person_id"] ?? "");
}

interface PropertyCell {
  readonly index: number;
  readonly key: string;
}

function propertyCells(columns: readonly Column[]): readonly PropertyCell[] {
  return columns.flatMap(({ target }, index) => (target.kind === "property" ? [{ index, key: target.key }] : []));
}

interface FieldCell {
  readonly index: number;
  readonly header: string;
  readonly name: string;
  readonly rule: FieldRule;
  /** What a flag says for rows that do not. */
  readonly fallback: CellValue | undefined;
}

function createReader({
  kind,
  columns,
  readers,
  properties,
  defaults,
}: JudgeOptions): (record: InputRecord) => Reading {
  const fields = columns.flatMap(({ header, target }, index): FieldCell[] =>
    target.kind === "field" ? [{ index, header, ...target.field, fallback: defaults[target.field.name] }] : [],
  );
  const cellsOfProperties = propertyCells(columns);
  const limited = [
    ...limitedCells(cellsOfProperties, properties),
    ...cellsOfProperties.filter(({ key }) => isMapColumn(key)).map(checkMap),
  ];
  // One object for all records: what it says is taken before the next is read.
  const values: Record<string, CellValue | undefined> = { ...defaults };
  const valid: Reading = { values };
  return (record) => {
    const cells = record.fields;
    if (cells.length !== columns.length) return { problems: [ragged(cells.length, columns.length)] };
    let problems: RowProblem[] | null = null;
    for (const cell of fields) {
      const problem = readField(cell, cells[cell.index] ?? "", values, readers);
      if (problem !== null) (problems ??= []).push(problem);
    }
    for (const check of limited) {
      const problem = check(cells);
      if (problem !== null) (problems ??= []).push(problem);
    }
    const found = problems ?? kind.check(values);
    return found.length > 0 ? { problems: found } : valid;
  };
}

function ragged(found: number, expected: number): RowProblem {
  return {
    column: "",
    message: `the row has ${found} field${found === 1 ? "" : "s"} and the header ${expected}; is a delimiter or a quote missing?`,
  };
}

function readField(
  field: FieldCell,
  text: string,
  values: Record<string, CellValue | undefined>,
  readers: ValueReaders,
): RowProblem | null {
  const { name, rule } = field;
  const cell = takeBack(text);
  values[name] = field.fallback;
  if (isBlank(cell)) return name === "send" && field.fallback === undefined ? undecided(field.header) : null;
  const judged = RULES[rule](rule === "text" ? cell : cell.trim(), readers);
  if ("problem" in judged) return { column: name, message: judged.problem };
  values[name] = judged.value;
  return null;
}

/** A `send` column without a word and without a flag that decides would be a guess. */
function undecided(column: string): RowProblem {
  return { column, message: "is empty; give true or false, or decide for such rows with --send or --no-send" };
}

/** A spreadsheet guard (`'+1555…`, `'=SUM`) is taken back: the quote was never part of the text. */
function takeBack(cell: string): string {
  return cell.charCodeAt(0) === 39 && /^'[=+\-@\t]/.test(cell) ? cell.slice(1) : cell;
}

/** Nothing, or nothing but space. */
function isBlank(cell: string): boolean {
  return cell === "" || (cell.charCodeAt(0) <= 32 && cell.trim() === "");
}

type LimitCheck = (cells: readonly string[]) => RowProblem | null;

/** Properties whose length the specification limits, where a column or a flag gives them. */
function limitedCells(cells: readonly PropertyCell[], fixed: JsonObject): readonly LimitCheck[] {
  return SPECIAL_PROPERTIES.flatMap(({ key, olderName, maxLength }) => {
    if (maxLength === undefined) return [];
    const names = olderName === undefined ? [key] : [key, olderName];
    return names.flatMap((name): LimitCheck[] => {
      const index = cells.find((cell) => cell.key === name)?.index ?? -1;
      const text = typeof fixed[name] === "string" ? fixed[name] : "";
      if (index === -1 && text === "") return [];
      return [(record) => tooLong(name, takeBack(record[index] ?? "") || text, maxLength)];
    });
  });
}

function tooLong(column: string, text: string, maxLength: number): RowProblem | null {
  const length = text.length > maxLength ? characterCount(text) : 0;
  return length > maxLength ? { column, message: `has ${length} characters; at most ${maxLength} are allowed` } : null;
}
