/** How a person is named on the command line: an e-mail address, or a phone number with its `+`. */
import type { Client } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { splitRowTexts } from "../../../contract/row-texts.ts";
import { parsePerson } from "../../args/people.ts";
import type { RecordValue } from "../../render/record-output.ts";

export type EmailOrPhone = { readonly email: string } | { readonly phone_number: string };

export const PERSON_OPERAND = ["<email|+phone>", "the person's e-mail address or phone number (E.164)"] as const;

/** `a@example.com` or `+14155550123`; throws UsageError for anything else. */
export function parseEmailOrPhone(text: string): EmailOrPhone {
  const person = parsePerson(text, "person");
  return "email" in person ? person : { phone_number: person.phone };
}

/** The first person of that name as the service sent it; null when there is none. */
export async function findPerson(client: Client, reference: EmailOrPhone, signal: AbortSignal): Promise<RecordValue | null> {
  for await (const page of client.listPeople({ ...reference }, { signal })) {
    const json: JsonObject | undefined = page.rows[0];
    if (json !== undefined) return { json, text: splitRowTexts(page.text)[0] ?? JSON.stringify(json) };
  }
  return null;
}

export function nameOf(reference: EmailOrPhone): string {
  return "email" in reference ? reference.email : reference.phone_number;
}
