/** How a person is named on the command line: an e-mail address, or a phone number with its `+`. */
import type { Client } from "../../../client/client.ts";
import { isEmail } from "../../../contract/email.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { isE164 } from "../../../contract/phone.ts";
import { splitRowTexts } from "../../../contract/row-texts.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { RecordValue } from "../../render/record-output.ts";

export type EmailOrPhone = { readonly email: string } | { readonly phone_number: string };

/** `a@example.com` or `+14155550123`; throws UsageError for anything else. */
export function parseEmailOrPhone(text: string): EmailOrPhone {
  if (isEmail(text)) return { email: text };
  if (isE164(text)) return { phone_number: text };
  throw new UsageError(`"${text}" is neither an e-mail address nor an E.164 phone number (+ and digits, as in +14155550123)`);
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
