/** Parses each call's parameters into the input of its rule (4.1 to 4.11). An InvalidError names every problem. */
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { PAGE_DEFAULT, PER_PAGE_DEFAULT, PER_PAGE_MAX, SCORE_MAX, SCORE_MIN } from "../../contract/limits.ts";
import { readAdditionalAnswer } from "../../contract/questions/read-answers.ts";
import { type AdditionalAnswer, type Platform, PLATFORMS, type Properties } from "../../contract/resources.ts";
import { CHANNELS, type Expansion, EXPANSIONS, METRIC_GROUPS, RESPONSE_ORDERS } from "../../contract/routes.ts";
import type {
  MemberInput,
  MembersQuery,
  MetricGroup,
  MetricsQuery,
  PeopleQuery,
  PersonReference,
  ResponseChange,
  ResponseInput,
  ResponsesQuery,
  SendInput,
  StatusInput,
} from "../domain/inputs.ts";
import type { EventsFilter } from "../domain/ports.ts";
import type { Write } from "../domain/people/undo-writes.ts";
import { checkAddresses } from "../domain/people/people.ts";
import { readAnswerTexts } from "../domain/answers/answer-texts.ts";
import type { Reschedule } from "../domain/surveys/reschedule.ts";
import { checkSpecialProperties } from "../domain/surveys/special-properties.ts";
import { Reader } from "./reader.ts";

const LAST_PAGE = Math.floor(Number.MAX_SAFE_INTEGER / PER_PAGE_MAX);

export function readPeopleQuery(reader: Reader): PeopleQuery {
  const range = readRange(reader);
  const person = { email: reader.filter("email"), phoneNumber: reader.filter("phone_number") };
  // Assigning fields is several times faster than spreading.
  const withProperties = reader.has("expand") && reader.list("expand").includes("properties");
  const ids = reader.has("ids") ? reader.list("ids") : null;
  const query = Object.assign(range, person, { withProperties, ids }, readCursorPage(reader));
  if (ids !== null && ids.length > PER_PAGE_MAX) reader.complain("ids", `must be ${PER_PAGE_MAX} at most`);
  if (query.email !== null && query.phoneNumber !== null) {
    reader.complain("email", "can't be combined with phone_number");
    reader.complain("phone_number", "can't be combined with email");
  }
  reader.finish();
  return query;
}

export function readResponsesQuery(reader: Reader): ResponsesQuery {
  // Assigned field by field, because spreading would cost more than reading.
  const query = {
    since: reader.timestamp("since"),
    until: reader.timestamp("until"),
    updatedSince: reader.timestamp("updated_since"),
    updatedUntil: reader.timestamp("updated_until"),
    trend: reader.text("trend"),
    personId: reader.filter("person_id"),
    personEmail: reader.filter("person_email"),
    order: reader.choice("order", RESPONSE_ORDERS) ?? "asc",
    expand: readExpansions(reader),
    page: readPage(reader),
    perPage: readPerPage(reader),
  };
  reader.finish();
  return query;
}

export function readEventsQuery(reader: Reader): EventsFilter {
  const [range, page, limit] = [readRange(reader), readPage(reader), readPerPage(reader)];
  reader.finish();
  return { ...range, offset: (page - 1) * limit, limit };
}

export function readMetricsQuery(reader: Reader): MetricsQuery {
  const groups = reader.list("groups");
  const unknown = groups.filter((group) => !isMetricGroup(group));
  if (unknown.length > 0) reader.complain("groups", `must be among ${METRIC_GROUPS.join(", ")}`);
  const query = { ...readRange(reader), trend: reader.text("trend"), groups: new Set(groups.filter(isMetricGroup)) };
  reader.finish();
  return query;
}

function isMetricGroup(text: string): text is MetricGroup {
  return (METRIC_GROUPS as readonly string[]).includes(text);
}

export function readMembersQuery(reader: Reader, platform: Platform): MembersQuery {
  const query = {
    platform,
    personId: reader.filter("person_id"),
    personEmail: reader.filter("person_email"),
    personPhoneNumber: reader.filter("person_phone_number"),
    ...readCursorPage(reader),
  };
  reader.finish();
  return query;
}

const DEFAULT_EXPANSIONS: ReadonlySet<Expansion> = new Set(["notes"]);

/** Ignores unknown names; if that leaves none, expands notes, as specified. */
export function readExpansions(reader: Reader): ReadonlySet<Expansion> {
  const given = reader.list("expand");
  const known = given.length === 0 ? [] : EXPANSIONS.filter((expansion) => given.includes(expansion));
  return known.length > 0 ? new Set(known) : DEFAULT_EXPANSIONS;
}

function readRange(reader: Reader): { since: number | null; until: number | null } {
  return { since: reader.timestamp("since"), until: reader.timestamp("until") };
}

function readPerPage(reader: Reader): number {
  return reader.limited("per_page", { min: 1, limit: PER_PAGE_MAX, fallback: PER_PAGE_DEFAULT });
}

/** A page beyond the largest safe number is empty anyway. */
function readPage(reader: Reader): number {
  return reader.limited("page", { min: 1, limit: LAST_PAGE, fallback: PAGE_DEFAULT });
}

function readCursorPage(reader: Reader): { perPage: number; after: string | null } {
  if (reader.has("page")) reader.complain("page", "is not known here: follow the Link header, or give its page_info");
  return { perPage: readPerPage(reader), after: reader.text("page_info") };
}

const SCORE = { min: SCORE_MIN, max: SCORE_MAX };

export function readSendInput(reader: Reader): SendInput {
  const send = reader.boolean("send", true);
  const input = {
    email: reader.email("email"),
    phoneNumber: reader.phone("phone_number"),
    channel: reader.choice("channel", CHANNELS) ?? "email",
    name: reader.name("name"),
    // Ignored with `send=false` (4.2).
    delaySeconds: (send ? reader.integer("delay", { min: 0 }) : null) ?? 0,
    properties: readProperties(reader, "properties"),
    replaceProperties: reader.boolean("replace_properties", false),
    send,
    lastSentAt: reader.storedTime("last_sent_at"),
    emailUpdate: reader.email("email_update"),
    phoneNumberUpdate: reader.phone("phone_number_update"),
  };
  // An empty string marks a wrong address, as opposed to a missing one.
  const given = (name: string, value: string | null): string | null => value ?? (reader.isWrong(name) ? "" : null);
  const addresses = { email: given("email", input.email), phoneNumber: given("phone_number", input.phoneNumber) };
  reader.check(() => checkAddresses({ ...input, ...addresses }));
  reader.finish();
  return input;
}

const STATUSES_MAX = PER_PAGE_MAX;

/** Accepts at most 100 people. */
export function readStatusQuery(reader: Reader): { people: readonly StatusInput[]; withProperties: boolean } {
  const people = reader.maps("people", STATUSES_MAX);
  reader.finish();
  const withProperties = reader.list("expand").includes("properties");
  return { people: people.map(readStatusInput), withProperties };
}

function readStatusInput(person: JsonObject): StatusInput {
  const one = new Reader(person);
  const input = {
    email: one.email("email"),
    phoneNumber: one.phone("phone_number"),
    channel: one.choice("channel", CHANNELS) ?? "email",
    lastSentAt: one.storedTime("last_sent_at"),
    delaySeconds: one.integer("delay", { min: 0 }) ?? 0,
  };
  one.finish();
  return input;
}

/** Doesn't call `finish`, because a missing person must be reported together with other problems. */
export function readResponseInput(reader: Reader): ResponseInput {
  return {
    personId: reader.required("person", reader.text("person"), ""),
    score: reader.required("score", reader.integer("score", SCORE), SCORE_MIN),
    comment: reader.longText("comment"),
    personProperties: reader.map("person_properties") ?? {},
    createdAt: reader.storedTime("created_at"),
    ...(reader.has("additional_answers") && { additionalAnswers: readAdditionalAnswers(reader) }),
    ...(reader.has("answers") && { answers: readAnswerTexts(reader.map("answers") ?? {}) }),
  };
}

/** Reads answers in the form in which the API returns them. */
function readAdditionalAnswers(reader: Reader): readonly AdditionalAnswer[] {
  const name = "additional_answers";
  const answers = (reader.array(name) ?? []).map(readAdditionalAnswer);
  if (!answers.every((answer) => answer !== null))
    reader.complain(name, "must be answers with id, value and question, as responses show them");
  else return answers;
  return [];
}

/** The changeable fields of a response; other fields are ignored. Doesn't call `finish`. */
export function readResponseChange(reader: Reader): ResponseChange {
  const personId = reader.text("person");
  const score = reader.integer("score", SCORE);
  const personProperties = reader.map("person_properties");
  if (reader.has("score")) reader.required("score", score, SCORE_MIN);
  const tags = reader.tags("tags");
  // A client that sends a whole row back sends an array here.
  const note = reader.isText("notes") ? reader.longText("notes") : null;
  return {
    ...(personId === null ? {} : { personId }),
    ...(score === null ? {} : { score }),
    ...(reader.has("comment") ? { comment: reader.longText("comment") } : {}),
    ...(personProperties === null ? {} : { personProperties }),
    ...(tags === null ? {} : { tags }),
    ...(note === null ? {} : { note }),
  };
}

/** `person` may be an id or a whole person, as in an expanded response. */
export function withPersonId(parameters: JsonObject): JsonObject {
  const { person } = parameters;
  return isJsonObject(person) ? { ...parameters, person: person.id ?? null } : parameters;
}

export function readMemberInput(reader: Reader, platform: Platform): MemberInput {
  const input = {
    platform,
    personId: reader.text("person_id"),
    personEmail: reader.email("person_email"),
    personPhoneNumber: reader.phone("person_phone_number"),
    personName: reader.name("person_name"),
    properties: readProperties(reader, "properties"),
  };
  reader.finish();
  return input;
}

function readProperties(reader: Reader, name: string): Properties | null {
  const properties = reader.map(name);
  if (properties !== null) reader.check(() => checkSpecialProperties(properties));
  return properties;
}

const IDENTIFIERS = ["person_id", "person_email", "person_phone_number"] as const;

/** Requires exactly one of the three identifiers (4.10). */
export function readMemberReference(reader: Reader, platform: Platform): PersonReference {
  const [id, email, phoneNumber] = [
    reader.text("person_id"),
    reader.email("person_email"),
    reader.phone("person_phone_number"),
  ];
  reader.finish();
  const references = [
    ...(id === null ? [] : [{ by: "id", id } as const]),
    ...(email === null ? [] : [{ by: "email", email } as const]),
    ...(phoneNumber === null ? [] : [{ by: "phone_number", phoneNumber } as const]),
  ];
  const [only] = references;
  if (references.length > 1) {
    for (const { by } of references)
      reader.complain(`person_${by}`, `can't be combined: give exactly one of ${IDENTIFIERS.join(", ")}`);
  }
  if (only === undefined)
    reader.complain(
      platform === "sms" ? "person_phone_number" : "person_email",
      `can't be blank: give exactly one of ${IDENTIFIERS.join(", ")}`,
    );
  reader.finish();
  return only ?? { by: "id", id: "" };
}

/** Reads an id, `email:…` or `phone_number:…`. */
export function parsePersonPath(text: string): PersonReference {
  if (text.startsWith("email:")) return { by: "email", email: text.slice("email:".length) };
  if (text.startsWith("phone_number:"))
    return { by: "phone_number", phoneNumber: text.slice("phone_number:".length).replace(/^ /, "+") };
  return { by: "id", id: text };
}

/** Like `parsePersonPath`, but also accepts a plain address. */
export function parsePendingPath(text: string): PersonReference {
  return text.includes("@") && !text.startsWith("email:") ? { by: "email", email: text } : parsePersonPath(text);
}

export function wantsBefore(parameters: JsonObject): boolean {
  return new Reader(parameters).list("expand").includes("before");
}

const WRITES_MAX = 10_000;

export function readWrites(reader: Reader): readonly Write[] {
  const writes = reader.maps("writes", WRITES_MAX);
  reader.finish();
  return writes.map((write) => {
    const one = new Reader(write);
    const read: Write = {
      before: write.before === null ? null : (one.map("before") ?? undefined),
      values: one.text("values"),
      writes: one.integer("writes", {}),
      createdAt: one.integer("created", {}),
      survey: one.text("survey"),
      surveyAt: one.integer("survey_at", {}),
      platform: one.choice("member", PLATFORMS),
      since: one.integer("since", {}),
      response: one.text("response"),
      updatedAt: one.integer("updated_at", {}),
      stays: one.list("stays"),
    };
    one.finish();
    return read;
  });
}

export function readReschedule(reader: Reader): Reschedule {
  const input = {
    scheduledAt: reader.required("scheduled_at", reader.storedTime("scheduled_at"), 0),
    channel: reader.choice("channel", CHANNELS),
    survey: reader.text("survey"),
  };
  reader.finish();
  return input;
}

export function readResubscription(reader: Reader): { readonly email: string; readonly note: string } {
  const email = reader.required("person_email", reader.email("person_email"), "");
  const note = reader.required("note", reader.longText("note"), "");
  reader.finish();
  return { email, note };
}
