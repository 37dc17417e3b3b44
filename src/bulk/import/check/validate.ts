/** Validates one record: the row it becomes, or everything that is wrong with it. */
import { withoutGuard } from "../../../contract/text/formula-guard.ts";
import { type Json, type JsonObject, numberThatLosesDigits, parseJsonObject } from "../../../contract/json.ts";
import { quoteText } from "../../../contract/text/invisible.ts";
import { findLostText } from "../../../contract/text/lost-text.ts";
import { SPECIAL_PROPERTIES } from "../../../contract/special-properties.ts";
import { propertyKey, type HeaderColumn } from "../table/header.ts";
import { findExtraCells, type InputRecord, isBlank } from "../table/record-parser.ts";
import type { CellValue, FieldRule, ImportRow, InvalidRow, RowKind, RowProblem, RowValues } from "./row-kind.ts";
import { checkLength, findOwnLimit } from "./limits.ts";
import { RULES, type ValueReaders } from "./rules.ts";

export interface ValidatorOptions {
  readonly kind: RowKind;
  readonly columns: readonly HeaderColumn[];
  readonly readers: ValueReaders;
  /** Properties for every row; a column of that name takes precedence where it has a value. */
  readonly properties: JsonObject;
  /** Values for rows that have none of their own: `channel`, `delay`, `send`. */
  readonly defaults: RowValues;
  /** Values for every row; they take precedence over its cells. */
  readonly overrides?: RowValues;
}

export interface ValidFields {
  readonly values: RowValues;
  readonly overridden: boolean;
}

/** The values of a record, until the next one is checked. */
type FieldCheck = ValidFields | { readonly problems: readonly RowProblem[]; readonly isOwnLimit?: true };

export interface Validator {
  /** For a service that is not our own. */
  liftOwnLimits(): void;
  validate(record: InputRecord): ImportRow | InvalidRow;
  /** Applies the same rules without making a row, for the check of a whole file. */
  checkFields(record: InputRecord): FieldCheck;
}

/** The result of `checkFields` is overwritten by the next record; that of `validate` is not. */
export function createValidator(options: ValidatorOptions): Validator {
  const cells = propertyCells(options.columns);
  const checkAnywhere = createFieldCheck(options);
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
      return { line, identifier: identifierOf(checked.values), values: present(checked.values), properties };
    },
  };
}

/** Characters of properties from which their size is measured. */
const MEASURED_MIN = 8192;

/** Columns of their own take precedence over a map in one cell, as an export writes it. */
function readProperties(cells: readonly PropertyCell[], record: InputRecord, common: JsonObject): JsonObject {
  const { fields, values } = record;
  let all = common;
  // Without a prototype, so that a key named `__proto__` is only a key.
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

/**
 * True when the cell of a flattened column repeats as text what the map holds: as a number, a list, a map, a text with
 * a leading `'` of its own, or under a key that a header spells in another way.
 */
function repeatsMap(all: JsonObject, key: string, cell: string): boolean {
  const isSame = (value: Json | undefined): boolean => [cell, withoutGuard(cell)].includes(toCellText(value));
  if (Object.hasOwn(all, key)) return isSame(all[key]);
  return Object.entries(all).some(([other, value]) => propertyKey(other.trim()) === key && isSame(value));
}

function toCellText(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

/** `person_properties` of an export holds them all as JSON. */
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

function present(values: RowValues): RowValues {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** The name of a row's person in messages and results; empty when there is no identifier. */
export function identifierOf(values: RowValues): string {
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
  /** The columns whose text follows, a space between them. */
  readonly joined: readonly number[];
  readonly header: string;
  readonly name: string;
  readonly rule: FieldRule;
  readonly fallback: CellValue | undefined;
}

function createFieldCheck({
  kind,
  columns,
  readers,
  properties,
  defaults,
  overrides = {},
}: ValidatorOptions): (record: InputRecord) => FieldCheck {
  const fields = columns.flatMap(({ header, target }, index): FieldCell[] =>
    target.kind === "field"
      ? [{ index, header, joined: target.joined ?? [], ...target.field, fallback: defaults[target.field.name] }]
      : [],
  );
  const cellsOfProperties = propertyCells(columns);
  const limited = [
    ...limitedCells(cellsOfProperties, properties),
    ...cellsOfProperties.filter(({ key }) => isMapColumn(key)).map(checkMap),
  ];
  const propertyIn = (cells: readonly string[]): string | null =>
    cellsOfProperties.find(({ index }) => !isBlank(withoutGuard(cells[index] ?? "")))?.key ??
    Object.keys(properties)[0] ??
    null;
  // One object for all records: its values are taken before the next is read.
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
      const problem = readField(cell, textOf(cell, cells), values, readers);
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

function textOf({ index, joined }: FieldCell, cells: readonly string[]): string {
  const text = cells[index] ?? "";
  if (joined.length === 0) return text;
  return [text, ...joined.map((column) => cells[column] ?? "")]
    .map((part) => withoutGuard(part).trim())
    .filter((part) => part !== "")
    .join(" ");
}

/** An empty `send` cell without a default would be a guess. */
function missingConsent(column: string): RowProblem {
  return { column, message: "is empty, and no default says whether to send; give true or false" };
}

type LimitCheck = (cells: readonly string[]) => RowProblem | null;

/** Properties whose length the specification limits, where a column or a common property gives them. */
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
