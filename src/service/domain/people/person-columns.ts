import { emailKey } from "../../../contract/text/email.ts";
import type { Fragment, NewRow } from "../../sql/lists/counted-rows.ts";
import { assign, renameFields, selectList } from "../../sql/columns.ts";

export interface PersonRow {
  readonly id: number;
  readonly email: string | null;
  readonly name: string | null;
  readonly phoneNumber: string | null;
  readonly properties: string | null;
  readonly createdAt: number;
  readonly lastSentAt: number | null;
  readonly lastRespondedAt: number | null;
  /** The earliest pending survey; null if there is none. */
  readonly nextSurveyAt: number | null;
  readonly bouncedAt: number | null;
  readonly unsubscribedAt: number | null;
  /** The survey whose link unsubscribed the person; only that link can undo it. */
  readonly unsubscribedBy: number | null;
  readonly writes: number;
  readonly valueWrites: number;
}

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
  writes: "writes",
  valueWrites: "value_writes",
};

export const COUNT_WRITE = "writes = writes + 1";

export const PERSON = `SELECT ${selectList(COLUMNS)} FROM people WHERE removed = 0 AND project_id = ?`;

export function personRow(project: number, person: PersonRow): NewRow {
  return { project_id: project, email_key: emailKeyOrNull(person.email), ...renameFields(COLUMNS, person) };
}

export function assignPerson(change: Partial<Omit<PersonRow, "id" | "writes">>): Fragment {
  const { sets, values } = assign(
    { ...COLUMNS, emailKey: "email_key" },
    { ...change, ...(change.email === undefined ? {} : { emailKey: emailKeyOrNull(change.email) }) },
  );
  return [sets === "" ? COUNT_WRITE : `${sets}, ${COUNT_WRITE}`, ...values];
}

function emailKeyOrNull(email: string | null): string | null {
  return email === null ? null : emailKey(email);
}
