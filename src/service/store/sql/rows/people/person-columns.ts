/** The columns of people, and the statements that they make. */
import { emailKey } from "../../../../../contract/text/email.ts";
import type { PersonRow } from "../../../../domain/ports.ts";
import type { Fragment, NewRow } from "../../../../sql/lists/counted-rows.ts";
import { assign, renameFields, selectList } from "../../../../sql/columns.ts";

const COLUMNS: Readonly<Record<keyof PersonRow, string>> = {
  id: "id",
  email: "email",
  name: "name",
  phoneNumber: "phone_number",
  properties: "properties",
  createdAt: "created_at",
  lastSentAt: "last_sent_at",
  lastRespondedAt: "last_responded_at",
  nextSurveyAt: "next_survey_at",
  bouncedAt: "bounced_at",
  unsubscribedAt: "unsubscribed_at",
  unsubscribedBy: "unsubscribed_by",
};

export const PERSON = `SELECT ${selectList(COLUMNS)} FROM people WHERE removed = 0 AND project_id = ?`;

/** Addresses are found by their key, which is kept next to them. */
export function personRow(project: number, person: PersonRow): NewRow {
  return { project_id: project, email_key: keyOf(person.email), ...renameFields(COLUMNS, person) };
}

/** Assigns the fields that are named; null if none is. */
export function assignPerson(change: Partial<Omit<PersonRow, "id">>): Fragment | null {
  const { sets, values } = assign(
    { ...COLUMNS, emailKey: "email_key" },
    { ...change, ...(change.email === undefined ? {} : { emailKey: keyOf(change.email) }) },
  );
  return sets === "" ? null : [sets, ...values];
}

function keyOf(email: string | null): string | null {
  return email === null ? null : emailKey(email);
}
