import type { Client, Parameters } from "../../../client/client.ts";
import { ClientError, nameCall } from "../../../client/errors/client-error.ts";
import { isNamed } from "../../../client/write/evidence.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { splitRowTexts } from "../../../contract/row-texts.ts";
import type { EmailOrPhone, PersonName } from "../../args/people.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { toId } from "../../importing/row-senders.ts";
import type { RecordValue } from "../../render/record-output.ts";

/**
 * Returns the person as the service sent them, or null if there is none. `more` has additional parameters. Throws
 * ClientError if the service's list ignores the filter, so it never returns someone else.
 */
export async function findPerson(
  client: Client,
  reference: EmailOrPhone,
  signal: AbortSignal,
  more: Parameters = {},
): Promise<RecordValue | null> {
  for await (const page of client.listPeople({ ...reference, ...more }, { signal })) {
    const at = page.rows.findIndex((row) => isNamed(row, reference));
    const json: JsonObject | undefined = page.rows[at];
    if (json !== undefined) return { json, text: splitRowTexts(page.text)[at] ?? JSON.stringify(json) };
    if (page.rows.length > 0) throw unfiltered(client, reference);
  }
  return null;
}

export async function requirePerson(
  client: Client,
  reference: EmailOrPhone,
  signal: AbortSignal,
  { more, hint = null }: { readonly more?: Parameters; readonly hint?: string | null } = {},
): Promise<RecordValue> {
  const found = await findPerson(client, reference, signal, more);
  if (found === null) throw new NothingFoundError(personNotFound(reference), hint);
  return found;
}

function unfiltered(client: Client, reference: EmailOrPhone): ClientError {
  const by = "email" in reference ? "email" : "phone number";
  const text = `cannot look up ${personText(reference)}: the service's list of people has no filter for ${by}`;
  return badList(client, text);
}

function badList({ baseUrl }: Client, text: string): ClientError {
  const call = nameCall("GET", `${baseUrl}${ROUTES.listPeople.path}.json`);
  return new ClientError(text, { code: "bad_reply", call });
}

/** Keeps all digits, even if the id is too large for a JavaScript number. Throws ClientError if there is no id. */
export function idOfPerson(client: Client, found: RecordValue): string {
  const id = toId(found.json["id"], found.text);
  if (id !== null && id !== "") return id;
  throw badList(client, "the service sent the person without an id");
}

export function exactlyOnePerson({
  personId,
  email,
  phone,
}: Readonly<Record<"personId" | "email" | "phone", string | null>>): PersonName {
  const [name, ...others]: PersonName[] = [
    ...(personId === null ? [] : [{ id: personId }]),
    ...(email === null ? [] : [{ email }]),
    ...(phone === null ? [] : [{ phone_number: phone }]),
  ];
  if (name === undefined || others.length > 0)
    throw new UsageError("specify exactly one of --person-id, --email or --phone");
  return name;
}

export function personText(person: PersonName): string {
  if ("email" in person) return person.email;
  return "id" in person ? person.id : person.phone_number;
}

export function personNotFound(person: PersonName): string {
  const kind = "email" in person ? "email" : "id" in person ? "id" : "phone number";
  return `no person found with ${kind} ${personText(person)}`;
}
