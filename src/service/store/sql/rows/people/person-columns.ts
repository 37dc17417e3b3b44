/** The columns of people, and the statements that they make. */
import { emailKey } from "../../../../../contract/text/email.ts";
import type { PersonRow } from "../../../../domain/ports.ts";
import type { SqlValue } from "../../database.ts";
import { assign, insertSql, selectList } from "../columns.ts";

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
const FIELDS = Object.keys(COLUMNS) as (keyof PersonRow)[];

export const PERSON = `SELECT ${selectList(COLUMNS)} FROM people WHERE removed = 0 AND project_id = ?`;

/** Addresses are found by their key, which is kept next to them. */
const INSERT = insertSql("people", ["project_id", "email_key", ...Object.values(COLUMNS)]);

export function insertPersonSql(project: number, person: PersonRow): readonly [sql: string, values: SqlValue[]] {
  return [INSERT, [project, keyOf(person.email), ...FIELDS.map((field) => person[field])]];
}

/** Changes the fields that are named; null where none is. */
export function updatePersonSql(
  project: number,
  id: number,
  change: Partial<Omit<PersonRow, "id">>,
): readonly [sql: string, values: SqlValue[]] | null {
  const { sets, values } = assign(
    { ...COLUMNS, emailKey: "email_key" },
    { ...change, ...(change.email === undefined ? {} : { emailKey: keyOf(change.email) }) },
  );
  if (sets === "") return null;
  return [`UPDATE people SET ${sets} WHERE project_id = ? AND id = ?`, [...values, project, id]];
}

function keyOf(email: string | null): string | null {
  return email === null ? null : emailKey(email);
}
