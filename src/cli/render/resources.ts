import { answerJson, plainAnswers } from "../../contract/questions/additional-answers.ts";
import { isJsonObject, type Json, type JsonObject } from "../../contract/json.ts";
import { RESOURCES, type Field, type FieldType, type ResourceName } from "../../contract/resources.ts";
import type { ColumnKind } from "../../contract/column-kinds.ts";
import { pathColumn, type Column, type Resource } from "./columns.ts";

const KINDS: Partial<Record<FieldType, ColumnKind>> = { timestamp: "time", integer: "number", boolean: "flag" };

function fieldColumn({ name, type }: Field): Column {
  return pathColumn(name, KINDS[type]);
}

function jsonFields(resource: ResourceName): readonly Column[] {
  return RESOURCES[resource].flatMap((field: Field): readonly Column[] => {
    const own = field.type === "object" ? [] : [fieldColumn(field)];
    const inner = field.type === "array" ? undefined : field.of.find(isResource);
    if (inner === undefined) return own;
    return [...own, ...jsonFields(inner).map(({ name, kind }) => pathColumn(`${field.name}.${name}`, kind))];
  });
}

function isResource(name: string): name is ResourceName {
  return Object.hasOwn(RESOURCES, name);
}

export const PEOPLE: Resource = {
  noun: "people",
  columns: RESOURCES.person.map(fieldColumn),
  table: [
    "id",
    "email",
    "name",
    "phone_number",
    "created_at",
    "last_sent_at",
    "last_responded_at",
    "next_survey_scheduled_at",
  ],
  dropFirst: ["last_responded_at", "last_sent_at", "created_at", "next_survey_scheduled_at", "phone_number", "name"],
  // Our own server sends properties if requested, and JSON output requests them.
  json: [[...RESOURCES.person.map(fieldColumn), pathColumn("properties")]],
  fields: ["properties"],
};

export const ONE_PERSON: Resource = { ...PEOPLE, columns: [...PEOPLE.columns, pathColumn("properties")], fields: [] };

export const SENT_PERSON: Resource = {
  noun: "people",
  columns: RESOURCES.sentPerson.map(fieldColumn),
  table: ["id", "email", "name", "survey_scheduled_at", "properties"],
  dropFirst: ["properties", "name"],
};

/** Our own server reports why no survey was scheduled. */
export const ADDED_PERSON: Resource = {
  ...SENT_PERSON,
  columns: [
    ...SENT_PERSON.columns,
    { ...pathColumn("survey_status"), isOptional: true },
    { ...pathColumn("survey_status_until", "time"), isOptional: true },
  ],
};

/** `person` is an id, or an object if expanded (4.3). */
function personField(field: string): Column["read"] {
  return ({ person }: JsonObject): Json | undefined => {
    if (isJsonObject(person)) return person[field];
    return field === "id" ? person : undefined;
  };
}

const [ID, , SURVEY_TYPE, , ...RESPONSE_REST] = RESOURCES.surveyResponse;

export const RESPONSE_FIELDS = jsonFields("surveyResponse");

export const RESPONSES: Resource = {
  noun: "responses",
  columns: [
    fieldColumn(ID),
    { name: "person_id", kind: "id", read: personField("id") },
    { name: "person_email", kind: "text", read: personField("email") },
    { name: "person_name", kind: "text", read: personField("name") },
    fieldColumn(SURVEY_TYPE),
    pathColumn("score", "score"),
    ...RESPONSE_REST.map(fieldColumn),
  ],
  table: ["id", "score", "person_email", "person_name", "comment", "created_at", "tags", "person_properties"],
  dropFirst: ["person_properties", "tags", "person_name"],
  dropLast: ["created_at", "id"],
  flexible: "comment",
  json: [RESPONSE_FIELDS],
  fields: ["person"],
  found: { in: answerColumns, named: namedAnswer, insteadOf: "additional_answers" },
};

const ANSWERS = "answers.";

function answerColumn(id: string): Column {
  const read = (row: JsonObject): Json | undefined => {
    const answer = plainAnswers(row).find((one) => one.id === id);
    return answer === undefined ? undefined : answerJson(answer);
  };
  return { name: ANSWERS + id, kind: "choices", read };
}

function answerColumns(rows: readonly JsonObject[]): readonly Column[] {
  return [...new Set(rows.flatMap(plainAnswers).map(({ id }) => id))].map(answerColumn);
}

function namedAnswer(name: string): Column | null {
  return name.startsWith(ANSWERS) && name !== ANSWERS ? answerColumn(name.slice(ANSWERS.length)) : null;
}

export const BOUNCES: Resource = {
  noun: "bounces",
  columns: RESOURCES.bounce.map(fieldColumn),
  dropFirst: ["name", "person_id"],
};

export const UNSUBSCRIBES: Resource = {
  noun: "unsubscribes",
  columns: RESOURCES.unsubscribe.map(fieldColumn),
  dropFirst: ["name", "person_id"],
};

function memberColumn(name: string, path: string): Column {
  const { kind, read } = pathColumn(path);
  return { name, kind, read };
}

const MEMBER_PERSON = [
  memberColumn("person_id", "person.id"),
  memberColumn("person_name", "person.name"),
  memberColumn("person_email", "person.email"),
  memberColumn("person_phone_number", "person.phone_number"),
];

export const MEMBERS: Resource = {
  noun: "members",
  columns: [
    ...MEMBER_PERSON,
    pathColumn("created_at"),
    pathColumn("updated_at"),
    memberColumn("next_survey_request_id", "next_survey_request.id"),
    memberColumn("survey_scheduled_at", "next_survey_request.survey_scheduled_at"),
    memberColumn("properties", "next_survey_request.properties"),
  ],
  table: [
    "person_id",
    "person_name",
    "person_email",
    "person_phone_number",
    "created_at",
    "survey_scheduled_at",
    "properties",
  ],
  dropFirst: ["properties", "created_at", "person_phone_number", "person_name", "person_id"],
  json: [jsonFields("membership")],
  fields: ["person", "next_survey_request"],
};

export const SMS_MEMBERS: Resource = {
  ...MEMBERS,
  dropFirst: ["properties", "created_at", "person_email", "person_name", "person_id"],
};

/** The response to adding a person to Autopilot (4.9). The one to removing a person has no `properties` (4.10). */
export const ADDED_MEMBER: Resource = {
  noun: "members",
  columns: [...MEMBER_PERSON, memberColumn("person_created_at", "person.created_at"), pathColumn("properties")],
  json: [jsonFields("addedMember")],
  fields: ["person"],
};

export const REMOVED_MEMBER: Resource = {
  ...ADDED_MEMBER,
  json: [jsonFields("removedMember")],
  columns: ADDED_MEMBER.columns.filter(({ name }) => name !== "properties"),
};

/** We compute these columns from the service's counts. */
const INTERVAL: readonly Column[] = [
  pathColumn("nps_low", "points"),
  pathColumn("nps_high", "points"),
  pathColumn("margin", "points"),
  pathColumn("confidence", "number"),
  pathColumn("method"),
  pathColumn("n", "number"),
];

export const METRICS: Resource = {
  noun: "metrics",
  namesValues: true,
  columns: [
    ...RESOURCES.metrics.map((field) => (field.name === "nps" ? pathColumn("nps", "nps") : fieldColumn(field))),
    ...INTERVAL,
  ],
  table: RESOURCES.metrics.map(({ name }) => name),
  dropFirst: [
    "detractor_percent",
    "passive_percent",
    "promoter_percent",
    "passive_count",
    "detractor_count",
    "promoter_count",
  ],
};

export const AUTOPILOT_CONFIGURATION: Resource = {
  noun: "autopilot configurations",
  columns: RESOURCES.autopilotConfiguration.map((field) =>
    field.name === "frequency" ? pathColumn("frequency", "duration") : fieldColumn(field),
  ),
  dropFirst: ["created_at", "updated_at"],
};
