import type { Client } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { MESSAGE_TEXTS } from "../../../contract/special-properties.ts";
import { type EmailOrPhone, parseEmail, parsePhone } from "../../args/people.ts";
import { parseName } from "../../args/values.ts";
import type { Deps } from "../../kit/deps.ts";
import { writeNote } from "../../kit/notes.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { defineCommand } from "../../kit/define-command.ts";
import type { FlagSpecs, ValuesOf } from "../../kit/flag-spec.ts";
import { REPLACE_PROPERTIES_FLAG, surveyProperties } from "../../kit/survey-properties.ts";
import { toBody } from "../../kit/write-outcome.ts";
import { SENT_PERSON } from "../../render/resources.ts";
import { findPerson, requirePerson } from "../shared/find-person.ts";
import { PERSON_ARG } from "./get.ts";
import { noStoredProperties, WITH_PROPERTIES } from "./person-filters.ts";
import { addOrUpdatePerson } from "./send.ts";

const CHANGES = {
  name: { value: "name", text: "the person's name", parse: parseName },
  newEmail: { value: "email", text: "the new address", parse: parseEmail },
  newPhone: { value: "phone", text: "the new number (E.164)", parse: parsePhone },
  replaceProperties: REPLACE_PROPERTIES_FLAG,
  create: { text: "create the person if not found, instead of exiting with 5" },
  properties: surveyProperties("a property to store, such as plan=pro; plan= removes it (only with surveyctl serve)"),
} as const satisfies FlagSpecs;

type PersonChange = ValuesOf<typeof CHANGES> & { readonly person: EmailOrPhone };

/** The request would create an unknown person (4.2), so people are looked up first, even in a dry run. */
export const update = defineCommand({
  name: "update",
  summary: "change a person's name, properties, address or number; never sends a survey",
  args: { person: PERSON_ARG },
  examples: [
    "surveyctl people update ada@example.com --name 'Ada Lovelace' --property plan=enterprise",
    "surveyctl people update ada@example.com --new-email ada@example.org",
    "surveyctl people update bob@example.com --name Bob --create",
  ],
  flags: CHANGES,
  columns: SENT_PERSON,
  run: async (deps, change) => {
    const { name, newEmail, newPhone, replaceProperties, properties } = change;
    if (replaceProperties && properties === null)
      throw new UsageError("--replace-properties requires --property or --properties", {
        hint: "--properties '{}' removes all",
      });
    if (name === null && properties === null && newEmail === null && newPhone === null)
      throw new UsageError("nothing to change: specify --name, --property, --properties, --new-email or --new-phone");
    const texts = Object.keys(properties ?? {}).filter((key) => MESSAGE_TEXTS.has(key));
    if (texts.length > 0)
      await writeNote(
        deps,
        `surveys won't have ${texts.join(", ")}: pass them with the survey, to surveyctl people add`,
      );
    const plan = async (client: Client): Promise<JsonObject> => toUpdateBody(change, await look(deps, client, change));
    return addOrUpdatePerson(deps, plan, { properties, answer: SENT_PERSON });
  },
});

async function look(deps: Deps, client: Client, change: PersonChange): Promise<JsonObject | null> {
  const { person, create, newEmail, newPhone, properties } = change;
  const hasProperties = properties !== null;
  const other = "email" in person ? newPhone : newEmail;
  if (create && !hasProperties && other === null) return null;
  const more = hasProperties ? WITH_PROPERTIES : {};
  const hint = "check the spelling, or pass --create to add a new person";
  const found = create
    ? await findPerson(client, person, deps.signal, more)
    : await requirePerson(client, person, deps.signal, { more, hint });
  if (found !== null && hasProperties && !("properties" in found.json))
    await writeNote(deps, noStoredProperties().message);
  return found?.json ?? null;
}

/**
 * To change an address or number, the request names the old one (4.2); to add a first one, it names the person by
 * another identifier.
 */
function toUpdateBody(
  { person, name, newEmail, newPhone, replaceProperties, properties }: PersonChange,
  found: JsonObject | null,
): JsonObject {
  const known: JsonObject = { ...found, ...person };
  const email = newEmail !== null && known["email"] ? known["email"] : null;
  const phone = newPhone !== null && known["phone_number"] ? known["phone_number"] : null;
  const named: JsonObject = email === null && phone === null ? { ...person } : {};
  return toBody({
    email: email ?? newEmail ?? named["email"] ?? null,
    phone_number: phone ?? newPhone ?? named["phone_number"] ?? null,
    name,
    properties,
    replace_properties: replaceProperties || null,
    send: false,
    email_update: email && newEmail,
    phone_number_update: phone && newPhone,
  });
}
