import type { Command } from "commander";
import type { Client } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { MESSAGE_TEXTS } from "../../../contract/special-properties.ts";
import { type EmailOrPhone, parseEmail, parsePhone } from "../../args/people.ts";
import { parseName } from "../../args/values.ts";
import type { Deps } from "../../command/deps.ts";
import { writeNote } from "../../command/notes.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { CommandContext } from "../../command/command-context.ts";
import {
  PROPERTY_FLAGS,
  type PropertySources,
  readPropertyFlags,
  REPLACE_PROPERTIES_FLAG,
  toProperties,
} from "../../command/survey-properties.ts";
import { findPerson, notFound, PERSON_OPERAND, readPersonOperand } from "./get.ts";
import { SENT_PERSON } from "../../render/resources.ts";
import { notKept, WITH_PROPERTIES } from "./person-filters.ts";
import { addOrUpdatePerson, toBody } from "./send.ts";

export interface PeopleUpdateOptions {
  readonly person: EmailOrPhone;
  readonly name: string | null;
  readonly properties: PropertySources;
  readonly replaceProperties?: boolean;
  readonly newEmail: string | null;
  readonly newPhone: string | null;
  readonly create: boolean;
}

export function registerPeopleUpdate(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "update",
    summary: "change a person's name, properties, address or number; never sends a survey",
    operands: [PERSON_OPERAND],
    examples: [
      "surveyctl people update ada@example.com --name 'Ada Lovelace' --property plan=enterprise",
      "surveyctl people update ada@example.com --new-email ada@example.org",
      "surveyctl people update bob@example.com --name Bob --create",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: [
      { flag: "--name", value: "name", text: "the person's name" },
      { flag: "--new-email", value: "email", text: "the new address" },
      { flag: "--new-phone", value: "phone", text: "the new number (E.164)" },
      REPLACE_PROPERTIES_FLAG,
      { flag: "--create", text: "create the person if not found", otherwise: "exit 5" },
      ...KEPT_PROPERTY_FLAGS,
    ],
    columns: SENT_PERSON,
  });
  context.action(command, async (deps, flags, [person = ""]) =>
    runPeopleUpdate(deps, {
      person: readPersonOperand(person),
      name: flags.parse("--name", parseName),
      properties: await readPropertyFlags(flags),
      replaceProperties: flags.is("--replace-properties"),
      newEmail: flags.parse("--new-email", parseEmail),
      newPhone: flags.parse("--new-phone", parsePhone),
      create: flags.is("--create"),
    }),
  );
}

/**
 * Never sends a survey: the request always says `send: false`. The same request would create a person (4.2), so they
 * are looked up first, in a dry run too, and a mistyped address changes nothing: throws NothingFoundError.
 */
export async function runPeopleUpdate(deps: Deps, options: PeopleUpdateOptions): Promise<ExitCode> {
  const { name, newEmail, newPhone, replaceProperties = false } = options;
  const properties = toProperties(options.properties);
  if (replaceProperties && properties === null)
    throw new UsageError("--replace-properties requires --property or --properties", {
      hint: "--properties '{}' removes all",
    });
  if (name === null && properties === null && newEmail === null && newPhone === null) {
    throw new UsageError("nothing to change: specify --name, --property, --properties, --new-email or --new-phone");
  }
  const texts = Object.keys(properties ?? {}).filter((key) => MESSAGE_TEXTS.has(key));
  if (texts.length > 0)
    await writeNote(deps, `surveys won't have ${texts.join(", ")}: pass them with the survey, to surveyctl people add`);
  return addOrUpdatePerson(
    deps,
    async (client) => toUpdateBody(options, properties, await look(deps, client, options, properties !== null)),
    properties,
  );
}

/**
 * The person as the service has them; null where no person has the name yet, or nothing depends on it. Throws
 * NothingFoundError. Notes that given properties are not kept where the service sends none of the person.
 */
async function look(
  deps: Deps,
  client: Client,
  { person, create, newEmail, newPhone }: PeopleUpdateOptions,
  hasProperties: boolean,
): Promise<JsonObject | null> {
  const other = "email" in person ? newPhone : newEmail;
  if (create && !hasProperties && other === null) return null;
  const found = await findPerson(client, person, deps.signal, hasProperties ? WITH_PROPERTIES : {});
  if (found === null && !create)
    throw new NothingFoundError(notFound(person), "check the spelling, or pass --create to add a new person");
  if (found !== null && hasProperties && !("properties" in found.json)) await writeNote(deps, notKept().message);
  return found?.json ?? null;
}

const KEPT_PROPERTY_FLAGS = PROPERTY_FLAGS.map((record) =>
  record.flag === "--property"
    ? { ...record, text: "a property to store, such as plan=pro; plan= removes it; other services store none" }
    : record,
);

/** An address or number is renamed by its old value (4.2), and a first one given with the other. */
function toUpdateBody(
  { person, name, newEmail, newPhone, replaceProperties = false }: PeopleUpdateOptions,
  properties: JsonObject | null,
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
