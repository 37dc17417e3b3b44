import type { Command } from "commander";
import type { Client } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { type EmailOrPhone, parseEmail, parsePhone } from "../../args/people.ts";
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
  toProperties,
} from "../../command/survey-properties.ts";
import { findPerson, nameOf, notFound, PERSON_OPERAND, readPersonOperand } from "./get.ts";
import { SENT_PERSON } from "../../render/resources.ts";
import { notKept, WITH_PROPERTIES } from "./person-filters.ts";
import { addOrUpdatePerson, toBody } from "./send.ts";

export interface PeopleUpdateOptions {
  readonly person: EmailOrPhone;
  readonly name: string | null;
  readonly properties: PropertySources;
  readonly newEmail: string | null;
  readonly newPhone: string | null;
  /** Create the person if there is none. */
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
      { flag: "--create", text: "create the person if not found", otherwise: "exit 5" },
      ...KEPT_PROPERTY_FLAGS,
    ],
    columns: SENT_PERSON,
  });
  context.action(command, async (deps, flags, [person = ""]) =>
    runPeopleUpdate(deps, {
      person: readPersonOperand(person),
      name: flags.text("--name"),
      properties: await readPropertyFlags(flags),
      newEmail: flags.parse("--new-email", parseEmail),
      newPhone: flags.parse("--new-phone", parsePhone),
      create: flags.is("--create"),
    }),
  );
}

/**
 * Never sends a survey: the request always says `send: false`. The same request would create a person (4.2), so they are
 * looked up first, in a dry run too, and a mistyped address changes nothing: throws NothingFoundError.
 */
export async function runPeopleUpdate(deps: Deps, options: PeopleUpdateOptions): Promise<ExitCode> {
  const { person, name, newEmail, newPhone } = options;
  const properties = toProperties(options.properties);
  if (name === null && properties === null && newEmail === null && newPhone === null) {
    throw new UsageError("nothing to change: specify --name, --property, --properties, --new-email or --new-phone");
  }
  const who = nameOf(person);
  const before = { before: (client: Client) => look(deps, client, options, properties !== null) };
  const rename = toRenameBody(options);
  if (rename === null)
    return addOrUpdatePerson(deps, toUpdateBody(options, properties), properties, { who, ...before });
  const rest = toUpdateBody({ ...options, ...afterRename(options) }, properties);
  const isAlone = Object.keys(rest).length === 2;
  return isAlone
    ? addOrUpdatePerson(deps, rename, null, { who, ...before })
    : addOrUpdatePerson(deps, rest, properties, { who, ...before, first: rename });
}

/** Throws NothingFoundError. Properties that are given for somebody of whom the service tells none are not kept. */
async function look(
  deps: Deps,
  client: Client,
  { person, create }: PeopleUpdateOptions,
  hasProperties: boolean,
): Promise<void> {
  if (create && !hasProperties) return;
  const found = await findPerson(client, person, deps.signal, hasProperties ? WITH_PROPERTIES : {});
  if (found === null && !create)
    throw new NothingFoundError(notFound(person), "check the spelling, or pass --create to add a new person");
  if (found !== null && hasProperties && !("properties" in found.json)) await writeNote(deps, notKept().message);
}

/** As `people add` has them, but that here they are what the person has from then on. */
const KEPT_PROPERTY_FLAGS = PROPERTY_FLAGS.map((record) =>
  record.flag === "--property"
    ? { ...record, text: "a property to store in place of all previous ones; other services store none" }
    : record,
);

/**
 * With `send=false` an update of the address or number changes that alone (4.2), so everything else is a request of its
 * own. Null when the person keeps what names them.
 */
function toRenameBody({ person, newEmail, newPhone }: PeopleUpdateOptions): JsonObject | null {
  const renamed = "email" in person ? newEmail : newPhone;
  if (renamed === null) return null;
  return "email" in person
    ? { email: person.email, send: false, email_update: renamed }
    : { phone_number: person.phone_number, send: false, phone_number_update: renamed };
}

/** The person under the new name, with what is still to change. */
function afterRename({ person, newEmail, newPhone }: PeopleUpdateOptions): Partial<PeopleUpdateOptions> {
  if ("email" in person) return { person: { email: newEmail ?? person.email }, newEmail: null };
  return { person: { phone_number: newPhone ?? person.phone_number }, newPhone: null };
}

/** The changes that keep the value by which the person is found. */
function toUpdateBody(
  { person, name, newEmail, newPhone }: PeopleUpdateOptions,
  properties: JsonObject | null,
): JsonObject {
  const byEmail = "email" in person;
  return toBody({
    email: byEmail ? person.email : newEmail,
    phone_number: byEmail ? newPhone : person.phone_number,
    name,
    properties,
    send: false,
  });
}
