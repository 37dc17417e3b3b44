export const HISTORY_FORMATS = ["api", "airbyte", "fivetran", "segment", "windsor", "webhook-log", "csv"] as const;
export type HistoryFormat = (typeof HISTORY_FORMATS)[number];

export const HISTORY_STREAMS = ["people", "responses", "unsubscribes", "bounces"] as const;
export type HistoryStream = (typeof HISTORY_STREAMS)[number];

/** Tables whose rows are part of a response. */
export const PART_STREAMS = ["tags", "notes", "questions", "answers", "comments"] as const;
export type PartStream = (typeof PART_STREAMS)[number];

const PERSON_FIELDS = [
  ...(["id", "person_id", "email", "name", "phone_number", "created_at"] as const),
  ...(["last_sent_at", "unsubscribed_at", "bounced_at", "synced_at"] as const),
];
const RESPONSE_FIELDS = [
  ...(["id", "person", "person_id", "email", "name", "phone_number", "person_created_at"] as const),
  ...(["survey_type", "score", "comment", "created_at", "updated_at", "person_properties"] as const),
  ...(["notes", "tags", "additional_answers", "permalink", "synced_at", "question_id", "text"] as const),
];
const PART_FIELDS = [
  ...(["id", "response_id", "question_id", "tag", "tags", "text", "user_email", "created_at", "type"] as const),
  ...(["free_response", "scale", "select_one", "select_many"] as const),
];

export type HistoryField =
  | (typeof PERSON_FIELDS)[number]
  | (typeof RESPONSE_FIELDS)[number]
  | (typeof PART_FIELDS)[number];

/** Fields that only warehouse tables have. */
const UNMAPPED: ReadonlySet<HistoryField> = new Set(["synced_at", "question_id", "text"]);

export const HISTORY_FIELDS: readonly HistoryField[] = [
  ...new Set([...PERSON_FIELDS, ...RESPONSE_FIELDS].filter((name) => !UNMAPPED.has(name))),
];

export type HistoryTarget =
  /** `isGiven` is set if a flag mapped the column to this field. */
  | { readonly kind: "field"; readonly field: HistoryField; readonly isGiven?: true }
  | { readonly kind: "property"; readonly key: string }
  | { readonly kind: "answer"; readonly question: string }
  /** Added by a sync tool, or redundant. */
  | { readonly kind: "ignored" }
  /** Data that can't be stored. */
  | { readonly kind: "lost" }
  | { readonly kind: "unknown" };

export interface ShapeChoice {
  readonly format: HistoryFormat | null;
  readonly stream: HistoryStream | null;
  readonly renames: readonly (readonly [header: string, field: string])[];
}

const IGNORED: HistoryTarget = { kind: "ignored" };
const LOST: HistoryTarget = { kind: "lost" };
const UNKNOWN: HistoryTarget = { kind: "unknown" };

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

export function findUnusedRenames({ renames }: Pick<ShapeChoice, "renames">, columns: readonly string[]): string[] {
  const present = new Set(columns.map(plain));
  return renames.map(([header]) => header).filter((header) => !present.has(plain(header)));
}

export const SYNCED =
  /^_(?:airbyte_(?:emitted_at|extracted_at|normalized_at)|sdc_(?:extracted_at|batched_at|received_at)|fivetran_synced)$/;
const SYNC_OWN = /^_(?:airbyte|sdc|fivetran|dlt|hevo|rivery|segment|ab)_|^__hevo|^(?:uuid_ts|loaded_at)$/;
/** The API returns these fields, but an import can't set them. */
const SERVICE_OWN: ReadonlyMap<string, HistoryTarget> = new Map<string, HistoryTarget>([
  ["last_responded_at", IGNORED],
  ["next_survey_scheduled_at", LOST],
  ["survey_scheduled_at", LOST],
]);

const EXPANDED: Readonly<Record<string, HistoryField>> = {
  id: "person_id",
  email: "email",
  name: "name",
  phone_number: "phone_number",
  created_at: "person_created_at",
};
const IN_RESPONSE: Readonly<Record<string, HistoryField>> = {
  person_email: "email",
  person_name: "name",
  person_phone_number: "phone_number",
  properties: "person_properties",
};

const ALIASES: Readonly<Partial<Record<HistoryField, readonly string[]>>> = {
  person_id: ["customerid", "respondentid", "personid"],
  email: ["email", "emailaddress", "customeremail", "personemail", "respondentemail", "mail"],
  name: ["fullname", "customername", "personname", "respondentname", "name"],
  phone_number: ["phone", "phonenumber", "mobile", "mobilenumber", "personphonenumber", "telephone"],
  survey_type: ["type", "surveytype", "surveykind", "questiontype"],
  score: ["score", "npsscore", "rating", "nps"],
  comment: ["comment", "comments", "feedback", "answer", "verbatim", "openresponse"],
  updated_at: ["updatedat", "lastupdated", "modified", "lastmodified", "updated"],
  tags: ["tags", "tag", "labels"],
  notes: ["notes", "note"],
  last_sent_at: ["lastsent", "lastsentat", "lastsurveyed", "lastsurveyedat", "surveysentat"],
  unsubscribed_at: ["unsubscribedat", "unsubscribed", "unsubscribedate", "unsubscribedon", "optedout", "optedoutat"],
  bounced_at: ["bouncedat", "bounced", "bouncedate", "bouncedon"],
  permalink: ["permalink", "link", "url", "responseurl"],
  additional_answers: ["additionalanswers"],
};
const DATES = new Set(
  (
    "createdat created date time timestamp submittedat submitted respondedat responded responsedate responsetime " +
    "responseat surveydate answeredat answered datecreated addedat"
  ).split(" "),
);

export function createTargets(
  shape: { readonly format: HistoryFormat; readonly stream: HistoryStream | PartStream },
  { renames }: Pick<ShapeChoice, "renames">,
): (column: string) => HistoryTarget {
  const known = new Map<string, HistoryTarget>();
  const named = new Map(renames.map(([header, name]) => [plain(header), name as HistoryField]));
  return (column) => {
    let target = known.get(column);
    if (target === undefined) {
      const name = named.get(plain(column));
      target = name === undefined ? columnTarget(column.trim(), shape) : { kind: "field", field: name, isGiven: true };
      known.set(column, target);
    }
    return target;
  };
}

/** If a flag mapped a column to a field, ignores another column with that field's name. */
export function preferGiven(
  columns: readonly string[],
  targets: (column: string) => HistoryTarget,
): (column: string) => HistoryTarget {
  const given = columns.flatMap((column) => {
    const target = targets(column);
    return target.kind === "field" && target.isGiven === true ? [target.field] : [];
  });
  if (given.length === 0) return targets;
  return (column) => {
    const target = targets(column);
    const isReplaced = target.kind === "field" && target.isGiven !== true && given.includes(target.field);
    return isReplaced ? LOST : target;
  };
}

function columnTarget(
  column: string,
  { format, stream }: { readonly format: HistoryFormat; readonly stream: HistoryStream | PartStream },
): HistoryTarget {
  const name = column.toLowerCase();
  if (SYNCED.test(name)) return field("synced_at");
  if (SYNC_OWN.test(name)) return IGNORED;
  const own = SERVICE_OWN.get(name);
  if (own !== undefined) return own;
  if (isPart(stream)) return isOneOf(PART_FIELDS, name) ? field(name as HistoryField) : LOST;
  if (format === "segment") return segmentTarget(column, name, stream);
  if (format === "windsor") return windsorTarget(column, stream);
  const direct = apiTarget(column, name, stream);
  if (direct.kind !== "unknown" || format !== "csv") return direct;
  return aliasTarget(column, stream);
}

function field(name: HistoryField): HistoryTarget {
  return { kind: "field", field: name };
}

function isOneOf(names: readonly string[], name: string): boolean {
  return names.includes(name);
}

export function isPart(stream: HistoryStream | PartStream): stream is PartStream {
  return isOneOf(PART_STREAMS, stream);
}

function apiTarget(column: string, name: string, stream: HistoryStream | PartStream): HistoryTarget {
  if (stream !== "responses")
    return isOneOf(PERSON_FIELDS, name) ? field(name as HistoryField) : propertyTarget(column);
  const expanded = /^person[._](?:(id|email|name|phone_number|created_at)$)/.exec(name)?.[1];
  if (expanded !== undefined) return field(EXPANDED[expanded] ?? "person");
  const renamed = Object.hasOwn(IN_RESPONSE, name) ? IN_RESPONSE[name] : undefined;
  if (renamed !== undefined) return field(renamed);
  const question = /^answers\.(.+)$/is.exec(column)?.[1];
  if (question !== undefined) return { kind: "answer", question };
  const isField = isOneOf(RESPONSE_FIELDS, name) && !UNMAPPED.has(name as HistoryField);
  return isField ? field(name as HistoryField) : propertyTarget(column);
}

/** Recognizes `person_properties.plan`, `properties[plan]` and a warehouse's `properties_plan`. */
function propertyTarget(column: string): HistoryTarget {
  const [, dotted, bracketed, flat] = /^(?:person_)?properties(?:\.(.+)|\[(.+)\]|_(.+))$/is.exec(column) ?? [];
  const key = dotted ?? bracketed ?? flat;
  return key === undefined ? UNKNOWN : { kind: "property", key };
}

const SEGMENT_PERSON: Readonly<Record<string, HistoryField>> = {
  context_traits_delighted_person_id: "person_id",
  context_traits_email: "email",
  context_traits_name: "name",
  context_traits_phone: "phone_number",
  received_at: "synced_at",
};
/**
 * Each row of `survey_question_answered` answers one question. If the question is named `score`, its answer is the
 * score.
 */
const SEGMENT: Readonly<Record<string, HistoryField>> = {
  ...SEGMENT_PERSON,
  survey_id: "id",
  timestamp: "created_at",
  survey_updated_at: "updated_at",
  survey_score: "score",
  survey_comment: "comment",
  survey_type: "survey_type",
  survey_tags: "tags",
  survey_notes: "notes",
  survey_permalink: "permalink",
  survey_additional_answers: "additional_answers",
  survey_properties: "person_properties",
  survey_person_properties: "person_properties",
  survey_question_id: "question_id",
  survey_question_answer: "score",
  survey_question_text: "text",
};
const SEGMENT_DATA = /^(?:survey_|context_traits_|user_id$|anonymous_id$)/;

function segmentTarget(column: string, name: string, stream: HistoryStream | PartStream): HistoryTarget {
  const fields = stream === "responses" ? SEGMENT : SEGMENT_PERSON;
  const found = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (found !== undefined) return field(found);
  const key = stream === "responses" ? /^survey_(?:person_)?properties_(.+)$/i.exec(column)?.[1] : undefined;
  if (key !== undefined) return { kind: "property", key };
  return SEGMENT_DATA.test(name) ? UNKNOWN : IGNORED;
}

export const PREFIX = /^(people|survey_responses|unsubscribes|bounces)__(.+)$/i;

function windsorTarget(column: string, stream: HistoryStream | PartStream): HistoryTarget {
  const [, prefix = "", rest = ""] = PREFIX.exec(column) ?? [];
  const name = rest.toLowerCase();
  const own = { people: "people", survey_responses: "responses", unsubscribes: "unsubscribes", bounces: "bounces" };
  if (own[prefix.toLowerCase() as keyof typeof own] === stream) {
    return SERVICE_OWN.get(name) ?? apiTarget(rest, name, stream);
  }
  if (stream !== "responses" || prefix.toLowerCase() !== "people") return prefix === "" ? UNKNOWN : LOST;
  const expanded = Object.hasOwn(EXPANDED, name) ? EXPANDED[name] : undefined;
  return expanded === undefined ? (SERVICE_OWN.get(name) ?? LOST) : field(expanded);
}

function aliasTarget(column: string, stream: HistoryStream | PartStream): HistoryTarget {
  const name = plain(column);
  if (stream === "responses" && name === "responseid") return field("id");
  if (stream !== "responses" && name === "personid") return field("id");
  if (DATES.has(name)) {
    if (stream === "unsubscribes") return field("unsubscribed_at");
    return field(stream === "bounces" ? "bounced_at" : "created_at");
  }
  const own = stream === "responses" ? RESPONSE_FIELDS : PERSON_FIELDS;
  const allowed = own.filter((each) => !UNMAPPED.has(each));
  const found = Object.entries(ALIASES).find(
    ([key, names]) => isOneOf(allowed as readonly string[], key) && (plain(key) === name || names.includes(name)),
  );
  return found === undefined ? UNKNOWN : field(found[0] as HistoryField);
}
