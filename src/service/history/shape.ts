/** Saved rows are recognized by their columns, never by a file's name. */
import { isJsonObject, type Json, type JsonObject, parseJsonObject, plainText } from "../../contract/json.ts";
import {
  createTargets,
  HISTORY_STREAMS,
  type HistoryField,
  type HistoryFormat,
  type HistoryStream,
  type PartStream,
  PREFIX,
  type ShapeChoice,
  SYNCED,
} from "./columns.ts";

export interface HistoryShape {
  readonly format: HistoryFormat;
  /** Null if each row names its own stream. */
  readonly stream: HistoryStream | PartStream | null;
}

export interface NoShape {
  readonly nearest: HistoryStream;
  readonly format: HistoryFormat;
  readonly missing: readonly (readonly HistoryField[])[];
}

/** At least one field of every inner list is required. */
const NEEDED: Readonly<Record<HistoryStream, readonly (readonly HistoryField[])[]>> = {
  responses: [["score"], ["person", "person_id", "email", "phone_number"], ["created_at"]],
  unsubscribes: [["person_id", "email"], ["unsubscribed_at"]],
  bounces: [["person_id", "email"], ["bounced_at"]],
  people: [["email", "phone_number", "id"]],
};

function detectPart(columns: ReadonlySet<string>): PartStream | null {
  if (columns.has("response_id") && (columns.has("question_id") || columns.has("free_response"))) return "answers";
  if (columns.has("response_id") && (columns.has("tag") || columns.has("tags"))) return "tags";
  if (columns.has("response_id") && columns.has("text")) return "notes";
  return columns.has("id") && columns.has("text") && columns.has("type") ? "questions" : null;
}

/** If rows are objects, `columns` are those of the first rows. */
function recognizeShape(columns: readonly string[], choice: ShapeChoice): HistoryShape | NoShape {
  const names = new Set(columns.map((column) => column.trim().toLowerCase()));
  const format = choice.format ?? detectFormat(names);
  if (format === "webhook-log")
    return names.has("event_data") ? { format, stream: null } : fail(columns, format, choice);
  const part = choice.stream === null && (format === "fivetran" || format === "api") ? detectPart(names) : null;
  if (part !== null) return { format: "fivetran", stream: part };
  const stream = choice.stream ?? detectStream(columns, format, choice);
  if (choice.format === null && format === "api") return apiOrDashboard(columns, stream, choice);
  if (stream === null || missingFields(columns, { format, stream }, choice).length > 0)
    return fail(columns, format, { ...choice, stream });
  return { format, stream };
}

/** Also tries the dashboard's column names, and prefers them if they explain more columns than the API's. */
function apiOrDashboard(
  columns: readonly string[],
  stream: HistoryStream | null,
  choice: ShapeChoice,
): HistoryShape | NoShape {
  const asDashboard = recognizeShape(columns, { ...choice, format: "csv" });
  if (stream === null || "nearest" in asDashboard) return asDashboard;
  const unmapped = { ...choice, renames: [] };
  const fields = (format: HistoryFormat): number => knownFields(columns, { format, stream }, unmapped).size;
  const isWhole = missingFields(columns, { format: "api", stream }, unmapped).length === 0;
  const isApi = isWhole && asDashboard.stream === stream && fields("csv") <= fields("api");
  return isApi ? { format: "api", stream } : asDashboard;
}

function detectFormat(names: ReadonlySet<string>): HistoryFormat {
  const some = (pattern: RegExp): boolean => [...names].some((name) => pattern.test(name));
  if (names.has("event_type") && names.has("event_data")) return "webhook-log";
  if (names.has("survey_id") && some(/^(?:context_|survey_(?:score|permalink|question))/)) return "segment";
  if (some(PREFIX)) return "windsor";
  if (some(/^_airbyte_/)) return "airbyte";
  if (some(/^_fivetran_|^properties_/)) return "fivetran";
  return "api";
}

function detectStream(columns: readonly string[], format: HistoryFormat, choice: ShapeChoice): HistoryStream | null {
  if (format === "windsor") return windsorStream(columns);
  const has = (stream: HistoryStream, ...fields: HistoryField[]): boolean => {
    const found = knownFields(columns, { format, stream }, choice);
    return fields.every((name) => found.has(name));
  };
  if (has("responses", "score")) return "responses";
  const isPerson = ["created_at", "last_sent_at", "phone_number"].some((name) => has("people", name as HistoryField));
  const [isLeft, isBounced] = [has("people", "unsubscribed_at"), has("people", "bounced_at")];
  if (!isPerson && isLeft !== isBounced) return isLeft ? "unsubscribes" : "bounces";
  if (hasResponseId(columns)) return "responses";
  return NEEDED.people[0]?.some((name) => name !== "id" && has("people", name)) === true ? "people" : null;
}

function hasResponseId(columns: readonly string[]): boolean {
  const names = new Set(columns.map((column) => column.trim().toLowerCase()));
  return names.has("survey_id") || (names.has("id") && (names.has("person_id") || names.has("person")));
}

function windsorStream(columns: readonly string[]): HistoryStream | null {
  const prefixes = new Set(columns.map((column) => PREFIX.exec(column.trim())?.[1]?.toLowerCase()));
  if (prefixes.has("survey_responses")) return "responses";
  return HISTORY_STREAMS.find((stream) => prefixes.has(stream)) ?? null;
}

function knownFields(
  columns: readonly string[],
  shape: { readonly format: HistoryFormat; readonly stream: HistoryStream },
  choice: ShapeChoice,
): ReadonlySet<HistoryField> {
  const targets = createTargets(shape, choice);
  return new Set(
    columns.flatMap((column) => {
      const target = targets(column);
      return target.kind === "field" ? [target.field] : [];
    }),
  );
}

function missingFields(
  columns: readonly string[],
  shape: { readonly format: HistoryFormat; readonly stream: HistoryStream },
  choice: ShapeChoice,
): readonly (readonly HistoryField[])[] {
  const found = knownFields(columns, shape, choice);
  return NEEDED[shape.stream].filter((names) => !names.some((name) => found.has(name)));
}

function fail(columns: readonly string[], format: HistoryFormat, choice: ShapeChoice): NoShape {
  const streams = choice.stream === null ? HISTORY_STREAMS : [choice.stream];
  const rated = streams.map((nearest) => {
    const missing = missingFields(columns, { format, stream: nearest }, choice);
    const needed = NEEDED[nearest].length;
    return { nearest, format, missing, share: (needed - missing.length) / needed };
  });
  const [best] = rated.toSorted((one, other) => other.share - one.share);
  const { nearest, missing } = best ?? { nearest: "responses" as const, missing: NEEDED.responses };
  return { nearest, format, missing };
}

/** `stream` and `kind` are null if the record doesn't specify them. */
export type Unwrapped = {
  readonly stream: HistoryStream | null;
  readonly kind: string | null;
} & ({ readonly row: JsonObject } | { readonly problem: string });

const STREAM_NAMES: readonly (readonly [RegExp, HistoryStream])[] = [
  [/response/i, "responses"],
  [/unsubscri/i, "unsubscribes"],
  [/bounce/i, "bounces"],
  [/people|person/i, "people"],
];

/** Messages of Airbyte and Singer that never contain a row. */
const WITHOUT_ROW = new Set(
  "STATE SCHEMA LOG TRACE CONTROL SPEC CATALOG CONNECTION_STATUS DESTINATION_CATALOG ACTIVATE_VERSION".split(" "),
);

/** Unwraps what a sync or webhook puts around a row. Returns null for a sync's other messages, such as its state. */
export function unwrapRow(record: JsonObject, format: HistoryFormat | null): Unwrapped | null {
  const { _airbyte_data: data, type, record: inner, event_data: event, event_type: name } = record;
  if (data !== undefined) return unwrapped(data, "_airbyte_data", "", record);
  if (typeof name === "string" && (event !== undefined || format === "webhook-log"))
    return unwrapped(event, "event_data", name, {});
  if (typeof type === "string" && WITHOUT_ROW.has(type)) return null;
  if (type !== "RECORD") return { row: record, stream: null, kind: null };
  if (!isJsonObject(inner)) return unwrapped(inner, "record", plainText(record.stream), {});
  const stream = plainText(record.stream ?? inner.stream);
  return unwrapped(isJsonObject(inner.data) ? inner.data : inner, "record", stream, {});
}

function nameStream(name: string): HistoryStream | null {
  return STREAM_NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

function unwrapped(value: Json | undefined, place: string, name: string, around: JsonObject): Unwrapped {
  const own = { stream: nameStream(name), kind: name === "" ? null : name };
  const row = parseObject(value ?? null);
  if (row === null)
    return { ...own, problem: plainText(value) === "" ? `no ${place}` : `${place} is not a JSON object` };
  const times = Object.entries(around).filter(([key]) => SYNCED.test(key));
  return { ...own, row: times.length === 0 ? row : { ...row, ...Object.fromEntries(times) } };
}

function parseObject(value: Json): JsonObject | null {
  if (typeof value === "string") return parseJsonObject(value);
  return isJsonObject(value) ? value : null;
}

export function recognizeRows(records: readonly JsonObject[], choice: ShapeChoice): HistoryShape | NoShape {
  const columns = new Set<string>();
  let saysItself = false;
  for (const record of records) {
    const found = unwrapRow(record, choice.format);
    if (found === null) continue;
    if (found.stream !== null) saysItself = true;
    if ("row" in found) for (const column of Object.keys(found.row)) columns.add(column);
  }
  if (saysItself && choice.stream === null) {
    const isLog = records.some((record) => record.event_type !== undefined);
    return { format: isLog ? "webhook-log" : (choice.format ?? "airbyte"), stream: null };
  }
  return recognizeShape([...columns], choice);
}
