/** How a person is named on the command line: an e-mail address, or a phone number with its `+`. */
import type { Client } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { splitRowTexts } from "../../../contract/row-texts.ts";
import { parsePerson, type EmailOrPhone } from "../../args/people.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { RecordValue } from "../../render/record-output.ts";

export const PERSON_OPERAND = ["<email|+phone>", "the person's e-mail address or phone number (E.164)"] as const;

/** The first person of that name as the service sent it; null when there is none. */
export async function findPerson(
  client: Client,
  reference: EmailOrPhone,
  signal: AbortSignal,
): Promise<RecordValue | null> {
  for await (const page of client.listPeople({ ...reference }, { signal })) {
    const json: JsonObject | undefined = page.rows[0];
    if (json !== undefined) return { json, text: splitRowTexts(page.text)[0] ?? JSON.stringify(json) };
  }
  return null;
}

export function nameOf(reference: EmailOrPhone): string {
  return "email" in reference ? reference.email : reference.phone_number;
}

/** `no person found with email ada@example.com`, or with the phone number. */
export function notFound(reference: EmailOrPhone): string {
  return `no person found with ${"email" in reference ? "email" : "phone number"} ${nameOf(reference)}`;
}

/** The operand of `people get` and `people update`. Throws UsageError. */
export function readPersonOperand(text: string): EmailOrPhone {
  if (!/^\d{1,6}$/.test(text.trim())) return parsePerson(text, "person");
  throw new UsageError(`person: ${JSON.stringify(text)} is an id, and this API cannot look people up by id`, {
    hint: `use an email address or a phone number; surveyctl responses list --person-id ${text} shows whose id it is`,
  });
}
