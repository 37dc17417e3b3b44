import type { Platform } from "../../../contract/resources.ts";
import type { FieldSpec, RowKind, RowProblem, RowValues } from "./row-kind.ts";

const email: FieldSpec = { name: "email", rule: "email", otherNames: ["person_email", "e-mail"] };
const phone: FieldSpec = { name: "phone_number", rule: "phone", otherNames: ["phone", "person_phone_number"] };
const personId: FieldSpec = { name: "person_id", rule: "id", otherNames: ["person"] };
const name: FieldSpec = { name: "name", rule: "text", otherNames: ["person_name"] };

const SUPPRESSIONS = ["unsubscribed_at", "bounced_at"] as const;

export const PEOPLE_ROWS: RowKind = {
  repeats: "person",
  sendsSurveys: true,
  fields: [
    { name: "email", rule: "email" },
    { name: "phone_number", rule: "phone", otherNames: ["phone"] },
    { name: "name", rule: "text" },
    { name: "channel", rule: "channel" },
    { name: "delay", rule: "delay" },
    { name: "send", rule: "send" },
    { name: "last_sent_at", rule: "time" },
    { name: "email_update", rule: "email" },
    { name: "phone_number_update", rule: "phone" },
  ],
  readOnly: ["id", "created_at", "last_responded_at", "next_survey_scheduled_at", ...SUPPRESSIONS],
  properties: "properties",
  check: (values, property) => [
    ...needsPerson(values, ["email", "phone_number"]),
    ...(values["channel"] === "sms" && values["phone_number"] === undefined
      ? [{ column: "phone_number", message: "is empty, but channel sms requires one" }]
      : []),
    ...needsOld(values, "email_update", "email"),
    ...needsOld(values, "phone_number_update", "phone_number"),
    ...lostInUpdate(values, property),
  ],
  findUnsaved: unsavedInUpdate,
};

export const RESPONSE_ROWS: RowKind = {
  repeats: "answer",
  sendsSurveys: false,
  fields: [
    personId,
    email,
    phone,
    { name: "score", rule: "score" },
    { name: "comment", rule: "comment" },
    { name: "created_at", rule: "time" },
    { name: "survey_type", rule: "nps" },
    { name: "additional_answers", rule: "answers" },
    name,
  ],
  // Also ignores the columns `additional_answers.…` of older exports.
  readOnly: ["id", "permalink", "updated_at", "notes", "tags", "additional_answers"],
  properties: "person_properties",
  check: (values) => [
    ...needsPerson(values, ["person_id", "email", "phone_number"]),
    ...(values["score"] === undefined
      ? [{ column: "score", message: "is empty; give a whole number from 0 to 10" }]
      : []),
  ],
};

const memberIdentifiers = [personId, email, phone];

const MEMBER_ROWS: RowKind = {
  repeats: "person",
  sendsSurveys: false,
  fields: [...memberIdentifiers, name],
  readOnly: ["created_at", "updated_at", "next_survey_request_id", "survey_scheduled_at", "id", ...SUPPRESSIONS],
  properties: "properties",
  check: (values) => needsPerson(values, ["person_id", "email", "phone_number"]),
};

/** Email surveys need an address and SMS surveys a number, unless an id identifies the person (4.9). */
export function memberRows(platform: Platform): RowKind {
  const column = platform === "sms" ? "phone_number" : "email";
  return { ...MEMBER_ROWS, check: (values) => needsPerson(values, [column, "person_id"]) };
}

export const REMOVAL_ROWS: RowKind = {
  ...MEMBER_ROWS,
  repeats: "identifier",
  properties: null,
};

const WORDS: Readonly<Record<string, string>> = { phone_number: "phone number", person_id: "person id" };

function needsPerson(values: RowValues, columns: readonly string[]): RowProblem[] {
  if (columns.some((column) => values[column] !== undefined)) return [];
  return [{ column: "", message: `no ${columns.map((column) => WORDS[column] ?? column).join(" or ")}` }];
}

function needsOld(values: RowValues, update: string, old: string): RowProblem[] {
  if (values[update] === undefined || values[old] !== undefined) return [];
  return [{ column: old, message: `is empty, but ${update} requires the old value there` }];
}

/** Without a survey, a request that changes the address or number can't change anything else (4.2). */
function lostInUpdate(values: RowValues, property: () => string | null): RowProblem[] {
  const update = ["email_update", "phone_number_update"].find((column) => values[column] !== undefined);
  if (values["send"] !== false || update === undefined) return [];
  const fields = ["name", "last_sent_at"].filter((column) => values[column] !== undefined);
  const message = `is not saved by a row with ${update} and without a survey; use another file for it`;
  return [...fields, property()].flatMap((column) => (column === null ? [] : [{ column, message }]));
}

/**
 * Without a survey, a row that changes the email address uses its phone number only to find the person, and doesn't
 * save it; and vice versa (4.2).
 */
function unsavedInUpdate(values: RowValues): RowProblem | null {
  const [update, column] =
    values["email_update"] === undefined ? ["phone_number_update", "email"] : ["email_update", "phone_number"];
  const isUpdated = values[`${column}_update`] !== undefined;
  if (values["send"] !== false || values[update] === undefined || values[column] === undefined || isUpdated)
    return null;
  return {
    column,
    message: `is not saved by a row with ${update} and without a survey; use another file for a new one`,
  };
}
