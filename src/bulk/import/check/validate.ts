import { withoutGuard } from "../../../contract/text/formula-guard.ts";
import {
  ANSWERS_BYTES_MAX,
  characterCount,
  NAME_MAX,
  PROPERTIES_BYTES_MAX,
  TEXT_BYTES_MAX,
} from "../../../contract/limits.ts";
import { type Json, type JsonObject, numberThatLosesDigits, parseJsonObject } from "../../../contract/json.ts";
import { quoteText } from "../../../contract/text/invisible.ts";
import { findLostText } from "../../../contract/text/lost-text.ts";
import { SPECIAL_PROPERTIES } from "../../../contract/special-properties.ts";
import { propertyKey, type HeaderColumn } from "../table/header.ts";
import { findExtraCells, type InputRecord, isBlank } from "../table/record-parser.ts";
import type { ImportRow, InvalidRow, RowKind, RowProblem, RowValues } from "./row-kind.ts";
import { type CellValue, type FieldRule, RULES, type ValueReaders } from "./rules.ts";

export interface ValidatorOptions {
  readonly kind: RowKind;
  readonly columns: readonly HeaderColumn[];
  readonly readers: ValueReaders;
  /** Properties for rows that don't have them. */
  readonly properties: JsonObject;
  readonly defaults: RowValues;
  /** Values that replace the cells of every row. */
  readonly overrides?: RowValues;
}

export interface ValidFields {
  readonly values: RowValues;
  readonly overridden: boolean;
}

type FieldCheck = ValidFields | { readonly problems: readonly RowProblem[]; readonly isOwnLimit?: true };

export interface Validator {
  liftOwnLimits(): void;
  validate(record: InputRecord): ImportRow | InvalidRow;
  /** Checks only the fields, which is cheaper than `validate`. The next call overwrites the result. */
  checkFields(record: InputRecord): FieldCheck;
}

export function createValidator(options: ValidatorOptions): Validator {
  const cells = propertyCells(options.columns);
  const checkAnywhere = createFieldCheck(options, cells);
  let hasOwnLimits = true;
  const checkFields = (record: InputRecord): FieldCheck => {
    const checked = checkAnywhere(record);
    if ("problems" in checked || !hasOwnLimits) return checked;
    const size = cells.reduce((sum, { index }) => sum + (record.fields[index]?.length ?? 0), 0);
    const properties = size > MEASURED_MIN ? readProperties(cells, record, options.properties) : null;
    const problem = findOwnLimit(checked.values, properties);
    return problem === null ? checked : { problems: [problem], isOwnLimit: true };
  };
  return {
    checkFields,
    liftOwnLimits: () => void (hasOwnLimits = false),
    validate(record) {
      const checked = checkFields(record);
      const { line } = record;
      if ("problems" in checked) return { line, identifier: "", problems: checked.problems };
      const properties = readProperties(cells, record, options.properties);
      const given = Object.entries(checked.values).filter(([, value]) => value !== undefined);
      return { line, identifier: identify(checked.values), values: Object.fromEntries(given), properties };
    },
  };
}

/** Cells with fewer characters in total aren't measured, because they can't exceed the limit on properties. */
const MEASURED_MIN = 8192;

/** An export has a column per property and one with all of them; the separate columns take precedence. */
function readProperties(cells: readonly PropertyCell[], record: InputRecord, common: JsonObject): JsonObject {
  const { fields, values } = record;
  let all = common;
  // No prototype, so `__proto__` is an ordinary key.
  const own = Object.create(null) as JsonObject;
  for (const { index, key } of cells) {
    const cell = fields[index] ?? "";
    if (isBlank(withoutGuard(cell))) continue;
    if (isMapColumn(key)) all = { ...all, ...parseJsonObject(withoutGuard(cell)) };
    else own[key] = values?.[index] ?? cell;
  }
  for (const [key, cell] of Object.entries(own)) {
    if (values !== undefined || typeof cell !== "string") continue;
    if (repeatsMap(all, key, cell)) delete own[key];
    else own[key] = withoutGuard(cell).trim();
  }
  return { ...all, ...own };
}

/** Whether a property's own column only repeats, as text, the value in the column with all properties. */
function repeatsMap(all: JsonObject, key: string, cell: string): boolean {
  const isSame = (value: Json | undefined): boolean => [cell, withoutGuard(cell)].includes(toCellText(value));
  if (Object.hasOwn(all, key)) return isSame(all[key]);
  return Object.entries(all).some(([other, value]) => propertyKey(other.trim()) === key && isSame(value));
}

function toCellText(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

function isMapColumn(key: string): boolean {
  return key === "properties" || key === "person_properties";
}

function checkMap({ index, key }: PropertyCell): LimitCheck {
  return (cells) => {
    const cell = withoutGuard(cells[index] ?? "");
    if (isBlank(cell) || cell === "null") return null;
    if (parseJsonObject(cell) === null)
      return { column: key, message: `${JSON.stringify(cell)} is not a JSON object, as in {"plan":"pro"}` };
    const number = numberThatLosesDigits(cell);
    if (number === null) return null;
    return { column: key, message: `${number} has more digits than a JSON number keeps; write it in quotes, as text` };
  };
}

export function identify(values: RowValues): string {
  return String(values["email"] ?? values["phone_number"] ?? values["person_id"] ?? "");
}

interface PropertyCell {
  readonly index: number;
  readonly key: string;
}

function propertyCells(columns: readonly HeaderColumn[]): readonly PropertyCell[] {
  return columns.flatMap(({ target }, index) => (target.kind === "property" ? [{ index, key: target.key }] : []));
}

interface FieldCell {
  readonly index: number;
  readonly joined: readonly number[];
  readonly header: string;
  readonly name: string;
  readonly rule: FieldRule;
  readonly fallback: CellValue | undefined;
}

function createFieldCheck(
  { kind, columns, readers, properties, defaults, overrides = {} }: ValidatorOptions,
  cellsOfProperties: readonly PropertyCell[],
): (record: InputRecord) => FieldCheck {
  const fields = columns.flatMap(({ header, target }, index): FieldCell[] =>
    target.kind === "field"
      ? [{ index, header, joined: target.joined ?? [], ...target.field, fallback: defaults[target.field.name] }]
      : [],
  );
  const limited = [
    ...limitedCells(cellsOfProperties, properties),
    ...cellsOfProperties.filter(({ key }) => isMapColumn(key)).map(checkMap),
  ];
  const propertyIn = (cells: readonly string[]): string | null =>
    cellsOfProperties.find(({ index }) => !isBlank(withoutGuard(cells[index] ?? "")))?.key ??
    Object.keys(properties)[0] ??
    null;
  // Reused for all records.
  const values: Record<string, CellValue | undefined> = { ...defaults };
  const valid = { values, overridden: false };
  return (record) => {
    const cells = record.fields;
    const unreadable = record.problem ?? findExtraCells(record, columns.length);
    if (unreadable !== null) return { problems: [{ column: "", message: unreadable }] };
    const lost = findLostCells(columns, cells);
    if (lost.length > 0) return { problems: lost };
    let problems: RowProblem[] | null = null;
    for (const cell of fields) {
      const problem = readField(cell, cellText(cell, cells), values, readers);
      if (problem !== null) (problems ??= []).push(problem);
    }
    for (const check of limited) {
      const problem = check(cells);
      if (problem !== null) (problems ??= []).push(problem);
    }
    valid.overridden = override(values, overrides);
    const found = problems ?? kind.check(values, () => propertyIn(cells));
    return found.length > 0 ? { problems: found } : valid;
  };
}

const NONE: readonly RowProblem[] = [];

function findLostCells(columns: readonly HeaderColumn[], cells: readonly string[]): readonly RowProblem[] {
  let problems = NONE;
  for (const [index, { header, target }] of columns.entries()) {
    const lost = target.kind === "ignored" ? null : findLostText(cells[index] ?? "");
    if (lost !== null)
      problems = [...problems, { column: header, message: `${quoteText(cells[index] ?? "")} ${lost}` }];
  }
  return problems;
}

function override(values: Record<string, CellValue | undefined>, overrides: RowValues): boolean {
  let differs = false;
  for (const name of Object.keys(overrides)) {
    differs ||= values[name] !== undefined && values[name] !== overrides[name];
    values[name] = overrides[name];
  }
  return differs;
}

function readField(
  field: FieldCell,
  text: string,
  values: Record<string, CellValue | undefined>,
  readers: ValueReaders,
): RowProblem | null {
  const { name, rule } = field;
  const cell = withoutGuard(text);
  values[name] = field.fallback;
  if (isBlank(cell)) return name === "send" && field.fallback === undefined ? missingConsent(field.header) : null;
  const ruled = RULES[rule](rule === "comment" ? cell : cell.trim(), readers);
  if ("problem" in ruled) return { column: name, message: ruled.problem };
  values[name] = ruled.value;
  return null;
}

function cellText({ index, joined }: FieldCell, cells: readonly string[]): string {
  const text = cells[index] ?? "";
  if (joined.length === 0) return text;
  return [text, ...joined.map((column) => cells[column] ?? "")]
    .map((part) => withoutGuard(part).trim())
    .filter((part) => part !== "")
    .join(" ");
}

/** Rejects an empty `send` cell if there is no default, rather than guessing. */
function missingConsent(column: string): RowProblem {
  return { column, message: "is empty, and no default says whether to send; give true or false" };
}

type LimitCheck = (cells: readonly string[]) => RowProblem | null;

function limitedCells(cells: readonly PropertyCell[], fixed: JsonObject): readonly LimitCheck[] {
  return SPECIAL_PROPERTIES.flatMap(({ key, olderName = key, maxLength = Infinity }) =>
    [...new Set([key, olderName])].flatMap((name): LimitCheck[] => {
      const index = cells.find((cell) => cell.key === name)?.index ?? -1;
      const text = typeof fixed[name] === "string" ? fixed[name] : "";
      if (maxLength === Infinity || (index === -1 && text === "")) return [];
      return [(record) => checkLength(name, withoutGuard(record[index] ?? "") || text, maxLength)];
    }),
  );
}

function findOwnLimit(values: RowValues, properties: JsonObject | null): RowProblem | null {
  const { name, comment, additional_answers: answers } = values;
  return (
    checkLength("name", name, NAME_MAX) ??
    checkBytes("comment", comment, TEXT_BYTES_MAX) ??
    checkBytes("additional_answers", answers, ANSWERS_BYTES_MAX) ??
    checkBytes("properties", properties === null ? "" : JSON.stringify(properties), PROPERTIES_BYTES_MAX)
  );
}

function checkLength(column: string, text: RowValues[string], max: number): RowProblem | null {
  if (typeof text !== "string" || text.length <= max) return null;
  const length = characterCount(text);
  return length > max ? exceeds(column, length, "characters", max) : null;
}

function checkBytes(column: string, text: RowValues[string], max: number): RowProblem | null {
  if (typeof text !== "string" || 3 * text.length <= max) return null;
  const bytes = Buffer.byteLength(text);
  return bytes > max ? exceeds(column, bytes, "bytes", max) : null;
}

function exceeds(column: string, size: number, unit: string, max: number): RowProblem {
  return { column, message: `has ${size} ${unit}; at most ${max} are allowed` };
}
