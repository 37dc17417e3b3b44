import { CHOICE_SEPARATOR } from "../../contract/questions/additional-answers.ts";
import type { ColumnKind } from "../../contract/column-kinds.ts";
import { isJsonObject, type Json, type JsonObject } from "../../contract/json.ts";
import { suggest } from "../args/suggest.ts";
import { UsageError } from "../errors/usage-error.ts";
import type { TimeFormatter } from "./time.ts";
import type { RowPage } from "../../contract/row-page.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { GlobalOptions } from "../args/global-options.ts";
import type { Streams } from "../streams/streams.ts";

export interface RenderContext {
  readonly streams: Streams;
  readonly clock: Clock;
  readonly options: Pick<
    GlobalOptions,
    "output" | "excel" | "columns" | "time" | "timeZone" | "quiet" | "verbosity" | "color" | "unicode"
  >;
}

export interface ListOutput {
  /** The first page sets `mayGrow` to say whether later rows can add columns. */
  write(page: RowPage, mayGrow?: boolean): Promise<void>;
  end(): Promise<void>;
}

export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly read: (row: JsonObject) => Json | undefined;
  /** False if the row's change isn't significant; it is then shown without color. */
  readonly isSure?: (row: JsonObject) => boolean;
  /** Omitted from records if the row has no value, unless it was requested with `--columns`. */
  readonly isOptional?: boolean;
  readonly addition?: string;
  readonly spans?: (text: string) => readonly { readonly start: number; readonly end: number }[];
}

export interface Resource {
  readonly noun: string;
  readonly columns: readonly Column[];
  readonly table?: readonly string[];
  readonly dropFirst?: readonly string[];
  /** Columns that tables drop last, after the flexible column has shrunk to its minimum width. */
  readonly dropLast?: readonly string[];
  readonly flexible?: string;
  /** Fields of a row in JSON, one list for each form that a row can have. Defaults to the columns. */
  readonly json?: readonly (readonly Column[])[];
  /** Fields that aren't columns but can begin a dotted path. */
  readonly fields?: readonly string[];
  /** Records in a pipe include the names, even with `--columns`. */
  readonly namesValues?: boolean;
  /** Accepts any name in `--columns`, because the service may send other fields (metric groups). */
  readonly open?: boolean;
  readonly found?: FoundColumns;
}

interface FoundColumns {
  readonly in: (rows: readonly JsonObject[]) => readonly Column[];
  readonly named: (name: string) => Column | null;
  /** The column that scripts get in place of the found columns. */
  readonly insteadOf: string;
}

export function toResource(
  noun: string,
  kinds: Readonly<Record<string, ColumnKind>>,
  dropFirst: readonly string[] = [],
): Resource {
  return { noun, columns: Object.entries(kinds).map(([name, kind]) => pathColumn(name, kind)), dropFirst };
}

export function withFound(resource: Resource, rows: readonly JsonObject[]): Resource {
  const found = resource.found?.in(rows) ?? [];
  return found.length === 0 ? resource : { ...resource, columns: [...resource.columns, ...found] };
}

export function pathColumn(name: string, kind: ColumnKind = kindOfName(name)): Column {
  const segments = name.split(".");
  if (segments.length === 1) return { name, kind, read: (row) => (Object.hasOwn(row, name) ? row[name] : undefined) };
  return { name, kind, read: (row) => readPath(row, segments) };
}

export function propertyColumn(map: string, key: string): Column {
  const read = (row: JsonObject): Json | undefined => {
    const value = row[map];
    return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  };
  return { name: `${map}.${key}`, kind: "text", read };
}

export function selectColumns(resource: Resource, names: readonly string[] | null): readonly Column[] {
  return names === null ? resource.columns : names.map((name) => selectColumn(resource, name));
}

export function recordColumns(
  resource: Resource,
  names: readonly string[] | null,
  json: JsonObject,
): readonly Column[] {
  const columns = selectColumns(resource, names);
  if (names !== null) return columns;
  const present = columns.filter(({ isOptional = false, read }) => !isOptional || read(json) !== undefined);
  const known = new Set([...columns.map(({ name }) => name), ...(resource.fields ?? [])]);
  const unknown = Object.keys(json).filter((key) => !known.has(key));
  return [
    ...present,
    ...(resource.found?.in([json]) ?? []),
    ...unknown.map((key): Column => ({ name: key, kind: unknownKind(json, key), read: (row) => row[key] })),
  ];
}

function unknownKind(json: JsonObject, key: string): ColumnKind {
  return typeof json[key] === "number" ? (key.endsWith("_at") ? "time" : "number") : "text";
}

export function timeFieldsOf({ columns }: Resource): readonly string[] {
  return columns.filter(({ kind }) => kind === "time").map(({ name }) => name);
}

export function toPoints(value: number): string {
  return Number.isInteger(value) ? String(value) : (Math.round(value * 10) / 10 || 0).toFixed(1);
}

export function toChange(value: number): string {
  return value > 0 ? `+${toPoints(value)}` : toPoints(value);
}

/** CSV and TSV round computed numbers; JSON doesn't. */
const NUMBER_CELLS: Partial<Record<ColumnKind, (value: number) => string>> = {
  points: toPoints,
  change: toPoints,
  share: (value) => String(Number(value.toFixed(4))),
  probability: (value) => value.toFixed(3),
};

export function toCellText(column: Column, value: Json | undefined, time: TimeFormatter): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  if (column.kind === "choices" && Array.isArray(value)) return value.map(String).join(CHOICE_SEPARATOR);
  if (typeof value === "object") return Array.isArray(value) && value.length === 0 ? "[]" : JSON.stringify(value);
  if (typeof value !== "number") return String(value);
  return column.kind === "time" ? time(value) : (NUMBER_CELLS[column.kind]?.(value) ?? String(value));
}

function selectColumn(resource: Resource, name: string): Column {
  const { fields = [] } = resource;
  const known = resource.columns.find((column) => column.name === name);
  if (known !== undefined) return known;
  const found = resource.found?.named(name) ?? null;
  if (found !== null) return found;
  const [first = "", ...rest] = name.split(".");
  const base = rest.join(".") === "" ? undefined : resource.columns.find((column) => column.name === first);
  if (base !== undefined) return { name, kind: kindOfName(name), read: (row) => readPath(base.read(row), rest) };
  const reaches = rest.join(".") !== "" && fields.includes(first);
  if (reaches || fields.includes(name) || (resource.open === true && name !== "")) return pathColumn(name);
  throw unknownColumn(resource, name);
}

function unknownColumn(resource: Resource, name: string): UsageError {
  const names = resource.columns.map((column) => column.name);
  const [first = "", ...rest] = name.split(".");
  const reach = rest.join(".") === "" ? "" : `.${rest.join(".")}`;
  const nearest = suggest(first, reach === "" ? names : [...names, ...(resource.fields ?? [])]);
  return new UsageError(
    `--columns: "${name}" is not a column of ${resource.noun}; the columns are ${names.join(", ")}`,
    {
      hint:
        nearest === null
          ? "a dotted path reaches inside a column, as in person_properties.plan"
          : `did you mean ${nearest}${reach}?`,
    },
  );
}

/** Property names may contain dots, so each step uses the longest name that exists. */
function readPath(value: Json | undefined, segments: readonly string[]): Json | undefined {
  if (segments.length === 0) return value;
  if (Array.isArray(value)) return readPath(value[Number(segments[0])], segments.slice(1));
  if (!isJsonObject(value)) return undefined;
  for (let length = segments.length; length > 0; length -= 1) {
    const name = segments.slice(0, length).join(".");
    if (Object.hasOwn(value, name)) return readPath(value[name], segments.slice(length));
  }
  return undefined;
}

/** Customers choose property names, so a name says nothing about the kind of value. */
function kindOfName(name: string): ColumnKind {
  if (/(?:^|\.)(?:person_)?properties\./.test(name)) return "text";
  const last = name.slice(name.lastIndexOf(".") + 1);
  if (last.endsWith("_at")) return "time";
  if (last.endsWith("phone_number")) return "phone";
  return last === "id" || last.endsWith("_id") ? "id" : "text";
}
