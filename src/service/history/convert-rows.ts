import { emailProblem } from "../../contract/text/email.ts";
import { isJsonObject, type Json, type JsonObject, parseJson, plainText } from "../../contract/json.ts";
import {
  characterCount,
  FOREIGN_ID_MAX,
  NAME_MAX,
  NOTES_LENGTH_MAX,
  PROPERTIES_BYTES_MAX,
  SCORE_MAX,
  SCORE_MIN,
  TAGS_MAX,
  TEXT_BYTES_MAX,
} from "../../contract/limits.ts";
import { isE164 } from "../../contract/text/phone.ts";
import { isStorableJson, isStorableText } from "../../contract/text/storable.ts";
import type { Properties } from "../../contract/resources.ts";
import { readWholeNumber } from "../../contract/text/whole-number.ts";
import { readMoment } from "../../runtime/calendar/read-moment.ts";
import { DAY_SECONDS } from "../../runtime/zone.ts";
import type { PastNote, PastPerson, PastResponse } from "../domain/history/rows.ts";
import { readAnswerTexts } from "../domain/answers/answer-texts.ts";
import type { TextsByQuestion } from "../domain/inputs.ts";
import {
  createTargets,
  isPart,
  type HistoryField,
  type HistoryStream,
  type HistoryTarget,
  preferGiven,
  type PartStream,
  type ShapeChoice,
} from "./columns.ts";
import { distribute, type DistributedValues } from "./distribute.ts";
import { type HistoryShape, unwrapRow } from "./shape.ts";

/** `version` is when the row last changed, if that is known. */
export type PastRow =
  | { readonly stream: Exclude<HistoryStream, "responses">; readonly row: PastPerson; readonly version: number }
  | {
      readonly stream: "responses";
      readonly row: PastResponse;
      readonly version: number;
      readonly lost: readonly LostPart[];
    }
  | { readonly stream: PartStream; readonly fields: ReadonlyMap<HistoryField, Json> };

export type LostPart = "note without a text" | "long permalink";

export interface Converted {
  readonly stream: PastRow["stream"];
  readonly row: PastRow | null;
  readonly problem: string | null;
}

export class PastRowError extends Error {
  override readonly name = "PastRowError";
}

export interface ConvertOptions extends Pick<ShapeChoice, "renames"> {
  readonly unknown: "properties" | "ignore";
  readonly zone: string | null;
  readonly now: number;
  readonly onColumn: (column: string, target: HistoryTarget) => void;
  readonly onLost: (column: string) => void;
  readonly onOtherKind: (kind: string) => void;
}

const TIMES = "2026-01-31, 2026-01-31T08:30:00Z or 1769848200";

type Fields = DistributedValues["fields"];
type ReadTime = (value: Json | undefined, name: string) => number | null;

/** Returns null for records without a row, such as a sync's own messages. */
export function createConverter(
  shape: HistoryShape,
  options: ConvertOptions,
): (record: JsonObject) => Converted | null {
  const readTime = createTimeField(options);
  const targets = new Map<string, (column: string) => HistoryTarget>();
  const handled = new Set<string>();
  const targetsOf = (stream: HistoryStream | PartStream): ((column: string) => HistoryTarget) => {
    const known = targets.get(stream) ?? createStreamTargets({ format: shape.format, stream }, options);
    targets.set(stream, known);
    return known;
  };
  const toRow = (values: JsonObject, stream: PastRow["stream"]): PastRow => {
    const columns = Object.keys(values);
    const targetOf = preferGiven(columns, targetsOf(stream));
    for (const column of columns) {
      if (handled.has(column)) continue;
      handled.add(column);
      options.onColumn(column, targetOf(column));
    }
    const { fields, properties, answers } = distribute(values, targetOf, options.onLost);
    const answer = stream === "responses" ? toOtherAnswer(fields) : null;
    if (answer !== null) return answer;
    if (isPart(stream)) return { stream, fields };
    if (stream === "responses") return toResponse({ fields, properties, answers }, readTime);
    const row = toPerson(fields, stream, readTime);
    return { stream, row, version: readTime(fields.get("synced_at"), "synced_at") ?? row.lastSentAt ?? 0 };
  };
  return (record) => {
    const found = unwrapRow(record, shape.format);
    if (found === null) return null;
    const stream = shape.stream ?? found.stream;
    if (stream === null && found.kind !== null) {
      options.onOtherKind(found.kind);
      return null;
    }
    if ("problem" in found) return { stream: stream ?? "responses", row: null, problem: found.problem };
    if (stream === null) {
      const problem = shape.format === "webhook-log" ? "no event_type" : "not a RECORD message";
      return { stream: "responses", row: null, problem };
    }
    try {
      return { stream, row: toRow(found.row, stream), problem: null };
    } catch (error) {
      if (!(error instanceof PastRowError)) throw error;
      return { stream, row: null, problem: error.message };
    }
  };
}

/** Only responses have properties; their unknown columns can become properties. */
function createStreamTargets(
  shape: { readonly format: HistoryShape["format"]; readonly stream: HistoryStream | PartStream },
  options: ConvertOptions,
): (column: string) => HistoryTarget {
  const targetOf = createTargets(shape, options);
  const isResponse = shape.stream === "responses";
  return (column) => {
    const target = targetOf(column);
    if (!isResponse) return target.kind === "property" ? { kind: "lost" } : target;
    const isProperty = target.kind === "unknown" && options.unknown === "properties";
    return isProperty ? { kind: "property", key: column.trim() } : target;
  };
}

function createTimeField({ zone, now }: ConvertOptions): ReadTime {
  return (value, name) => {
    if (value === undefined) return null;
    const at = readMoment(plainText(value).trim(), zone);
    if (at === null) throw new PastRowError(`${name} ${shown(value)} is not a time such as ${TIMES}`);
    if (at > now + DAY_SECONDS) throw new PastRowError(`${name} ${shown(value)} is in the future`);
    return at;
  };
}

function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function readId(value: Json | undefined, name: string): number | null {
  if (value === undefined) return null;
  const id = readWholeNumber(plainText(value));
  if (id !== null && id > 0 && id <= FOREIGN_ID_MAX) return id;
  throw new PastRowError(`${name} ${shown(value)} is not a whole number from 1 to ${FOREIGN_ID_MAX}`);
}

function readText(value: Json | undefined, name: string): string | null {
  if (value === undefined) return null;
  const text = plainText(value);
  if (!isStorableText(text)) throw new PastRowError(`${name} holds a character that cannot be stored`);
  return text;
}

export function checkStorableValue(value: Json, name: string): void {
  if (!isStorableJson(value)) throw new PastRowError(`${name} holds a value that cannot be stored`);
}

function limited(text: string | null, name: string, length: number, max: number): string | null {
  if (text !== null && length > max) throw new PastRowError(`${name} is longer than ${max}`);
  return text;
}

function readEmail(value: Json | undefined): string | null {
  const email = readText(value, "email")?.trim() ?? null;
  const problem = email === null ? null : emailProblem(email);
  if (problem !== null) throw new PastRowError(`email ${shown(email)} ${problem}`);
  return email;
}

function readPhone(value: Json | undefined): string | null {
  if (value === undefined) return null;
  const phone = typeof value === "number" ? `+${value}` : (readText(value, "phone_number") ?? "").trim();
  if (!isE164(phone)) throw new PastRowError(`phone_number ${shown(value)} is not in E.164 form, as in +14155550123`);
  return phone;
}

function readName(value: Json | undefined): string | null {
  const name = readText(value, "name");
  return limited(name, "name", characterCount(name ?? ""), NAME_MAX);
}

function toPerson(fields: Fields, stream: HistoryStream, readTime: ReadTime): PastPerson {
  const time = (name: HistoryField): number | null => readTime(fields.get(name), name);
  const person: PastPerson = {
    id: readId(fields.get(stream === "people" ? "id" : "person_id") ?? fields.get("person_id"), "id"),
    email: readEmail(fields.get("email")),
    name: readName(fields.get("name")),
    phoneNumber: readPhone(fields.get("phone_number")),
    createdAt: time("created_at"),
    lastSentAt: time("last_sent_at"),
    unsubscribedAt: time("unsubscribed_at"),
    bouncedAt: time("bounced_at"),
  };
  if (person.id === null && person.email === null && person.phoneNumber === null)
    throw new PastRowError("no id, email or phone_number");
  if (stream === "unsubscribes" && person.unsubscribedAt === null) throw new PastRowError("no unsubscribed_at");
  if (stream === "bounces" && person.bouncedAt === null) throw new PastRowError("no bounced_at");
  return person;
}

function toResponse({ fields, properties, answers }: DistributedValues, readTime: ReadTime): PastRow {
  const createdAt = readTime(fields.get("created_at"), "created_at");
  if (createdAt === null) throw new PastRowError("no created_at");
  const updatedAt = readTime(fields.get("updated_at"), "updated_at") ?? createdAt;
  const surveyType = readText(fields.get("survey_type"), "survey_type")?.trim().toLowerCase() ?? "nps";
  const permalink = readText(fields.get("permalink"), "permalink");
  const lost: LostPart[] = permalink !== null && permalink.length > PERMALINK_MAX ? ["long permalink"] : [];
  const row: PastResponse = {
    id: readId(fields.get("id"), "id"),
    person: readRespondent(fields, readTime),
    surveyType,
    score: readScore(fields.get("score"), surveyType),
    comment: readComment(fields.get("comment")),
    createdAt,
    updatedAt,
    properties: readProperties(fields.get("person_properties"), properties),
    tags: readTags(fields.get("tags")),
    notes: readNotes(fields.get("notes"), updatedAt, readTime, lost),
    additionalAnswers: readArray(fields.get("additional_answers"), "additional_answers"),
    ...(Object.keys(answers).length > 0 && { answers: readAnswers(answers) }),
    ...(permalink !== null && permalink.length <= PERMALINK_MAX && { permalink }),
  };
  const version = fields.has("updated_at") ? updatedAt : (readTime(fields.get("synced_at"), "synced_at") ?? updatedAt);
  return { stream: "responses", row, version, lost };
}

const PERMALINK_MAX = 2000;

function readRespondent(fields: Fields, readTime: ReadTime): PastPerson {
  const given = parsed(fields.get("person"));
  const person = isJsonObject(given) ? given : {};
  const value = (name: string, column: HistoryField): Json | undefined =>
    person[name] ?? fields.get(column) ?? undefined;
  const found: PastPerson = {
    id: readId(isJsonObject(given) ? value("id", "person_id") : (given ?? fields.get("person_id")), "person"),
    email: readEmail(value("email", "email")),
    name: readName(value("name", "name")),
    phoneNumber: readPhone(value("phone_number", "phone_number")),
    createdAt: readTime(value("created_at", "person_created_at"), "created_at"),
    lastSentAt: null,
    unsubscribedAt: null,
    bouncedAt: null,
  };
  if (found.id === null && found.email === null && found.phoneNumber === null) throw new PastRowError("no person");
  return found;
}

export function readComment(value: Json | undefined): string | null {
  const comment = readText(value, "comment");
  return limited(comment, "comment", Buffer.byteLength(comment ?? ""), TEXT_BYTES_MAX);
}

function readScore(value: Json | undefined, surveyType: string): number {
  if (value === undefined) throw new PastRowError("no score");
  const score = readWholeNumber(plainText(value));
  if (
    score !== null &&
    Number.isSafeInteger(score) &&
    (surveyType !== "nps" || (score >= SCORE_MIN && score <= SCORE_MAX))
  )
    return score;
  const wanted = surveyType === "nps" ? `a whole number from ${SCORE_MIN} to ${SCORE_MAX}` : "a whole number";
  throw new PastRowError(`score ${shown(value)} is not ${wanted}`);
}

function parsed(value: Json | undefined): Json | undefined {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  const json = parseJson(value);
  return json === undefined ? value : json;
}

function readProperties(value: Json | undefined, flat: Properties): Properties {
  const found = parsed(value) ?? {};
  if (!isJsonObject(found)) throw new PastRowError(`person_properties ${shown(found)} is not a JSON object`);
  const properties = Object.keys(flat).length === 0 ? found : { ...found, ...flat };
  checkStorableValue(properties, "person_properties");
  const text = JSON.stringify(properties);
  limited(text, "person_properties", Buffer.byteLength(text), PROPERTIES_BYTES_MAX);
  return properties;
}

function readArray(value: Json | undefined, name: string): Json[] | null {
  if (value === undefined) return null;
  const found = parsed(value);
  if (!Array.isArray(found)) throw new PastRowError(`${name} ${shown(value)} is not a JSON array`);
  checkStorableValue(found, name);
  return found;
}

function readAnswers(answers: Properties): TextsByQuestion {
  checkStorableValue(answers, "answers");
  return readAnswerTexts(answers);
}

export function readTags(value: Json | undefined): string[] | null {
  if (value === undefined) return null;
  const found = parsed(value);
  const tags = (Array.isArray(found) ? found.map(plainText) : plainText(found).split(",")).map((tag) => tag.trim());
  const kept = tags.filter((tag) => tag !== "");
  if (kept.length > TAGS_MAX) throw new PastRowError(`more than ${TAGS_MAX} tags`);
  for (const tag of kept) limited(readText(tag, "tag"), "tag", characterCount(tag), NAME_MAX);
  return kept;
}

/** Author of notes that don't name one. */
const UNKNOWN_AUTHOR = "unknown@localhost";

/** In a list, notes that are only ids are lost, because they have no text. */
function readNotes(value: Json | undefined, at: number, readTime: ReadTime, lost: LostPart[]): PastNote[] | null {
  if (value === undefined) return null;
  const found = parsed(value);
  const items = Array.isArray(found) ? found : [plainText(found)];
  const notes: PastNote[] = [];
  for (const item of items) {
    if (isJsonObject(item)) notes.push(toNote(item, at, readTime));
    else if (Array.isArray(found)) lost.push("note without a text");
    else notes.push({ id: null, text: readText(item, "note") ?? "", userEmail: UNKNOWN_AUTHOR, createdAt: at });
  }
  limited("", "notes", JSON.stringify(notes).length, NOTES_LENGTH_MAX);
  return notes.length === 0 && lost.includes("note without a text") ? null : notes;
}

export function toNote(note: JsonObject, at: number, readTime: ReadTime): PastNote {
  const text = readText(note.text ?? undefined, "note");
  if (text === null) throw new PastRowError("a note without a text");
  return {
    id: readId(note.id ?? undefined, "note"),
    text,
    userEmail: readText(note.user_email ?? undefined, "user_email") ?? UNKNOWN_AUTHOR,
    createdAt: readTime(note.created_at ?? undefined, "created_at") ?? at,
  };
}

const [SCORE, COMMENT] = ["score", "comment"];

/** Null for rows with the score, and for rows without a question. */
function toOtherAnswer(fields: ReadonlyMap<HistoryField, Json>): {
  readonly stream: "comments" | "answers";
  readonly fields: ReadonlyMap<HistoryField, Json>;
} | null {
  const question = plainText(fields.get("question_id")).trim().toLowerCase();
  if (question === "" || question === SCORE) return null;
  const isComment = question === COMMENT;
  const part = new Map<HistoryField, Json>([
    ["response_id", fields.get("id") ?? null],
    [isComment ? "comment" : "free_response", fields.get("score") ?? null],
  ]);
  for (const name of ["created_at", "question_id", "text"] as const) part.set(name, fields.get(name) ?? null);
  return { stream: isComment ? "comments" : "answers", fields: part };
}
