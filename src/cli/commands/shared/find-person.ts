/** Looks people up by what identifies them on the command line. */
import type { Client, Parameters } from "../../../client/client.ts";
import { ClientError, nameCall } from "../../../client/errors/client-error.ts";
import { isNamed } from "../../../client/write/evidence.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { splitRowTexts } from "../../../contract/row-texts.ts";
import type { EmailOrPhone, PersonName } from "../../args/people.ts";
import { toId } from "../../importing/row-senders.ts";
import type { RecordValue } from "../../render/record-output.ts";

/**
 * The person of that name as the service sent it; null when there is none. `more` asks for more of them. Throws
 * ClientError when all that comes is other people, from a service whose list does not filter, so that another person is
 * never returned.
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

function unfiltered({ baseUrl }: Client, reference: EmailOrPhone): ClientError {
  const by = "email" in reference ? "email" : "phone number";
  const call = nameCall("GET", `${baseUrl}${ROUTES.listPeople.path}.json`);
  return new ClientError(
    `cannot look up ${personText(reference)}: the service's list of people has no filter for ${by}`,
    { code: "bad_reply", call },
  );
}

/** All digits of the id, also where a number would lose some. Throws ClientError for a person without one. */
export function idOfPerson({ baseUrl }: Client, found: RecordValue | null): string {
  const id = found === null ? null : toId(found.json["id"], found.text);
  if (id !== null && id !== "") return id;
  const call = nameCall("GET", `${baseUrl}${ROUTES.listPeople.path}.json`);
  throw new ClientError("the service sent the person without an id", { code: "bad_reply", call });
}

export function personText(person: PersonName): string {
  if ("email" in person) return person.email;
  return "id" in person ? person.id : person.phone_number;
}

export function personNotFound(person: PersonName): string {
  const kind = "email" in person ? "email" : "id" in person ? "id" : "phone number";
  return `no person found with ${kind} ${personText(person)}`;
}
