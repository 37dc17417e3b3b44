/**
 * `people get`, and how a person is identified on the command line: an e-mail address, or a phone number with its `+`.
 */
import { quoteText } from "../../../contract/text/invisible.ts";
import type { Command } from "commander";
import { type EmailOrPhone, parsePerson } from "../../args/people.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { toId } from "../../import/row-senders.ts";
import { checkColumns, type RecordValue, writeRecord } from "../../render/record-output.ts";
import { PEOPLE, ONE_PERSON } from "../../render/resources.ts";
import type { CommandContext } from "../../command/command-context.ts";
import type { Client, Parameters } from "../../../client/client.ts";
import { ClientError, nameCall } from "../../../client/errors/client-error.ts";
import { isNamed } from "../../../client/write/evidence.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { splitRowTexts } from "../../../contract/row-texts.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { WITH_PROPERTIES } from "./person-filters.ts";

export function registerPeopleGet(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "get",
    summary: "show one person",
    operands: [PERSON_OPERAND],
    examples: ["surveyctl people get ada@example.com", "surveyctl people get +14155550101 --json"],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    columns: ONE_PERSON,
  });
  context.action(command, (deps, _flags, [person = ""]) => runPeopleGet(deps, { person: readPersonOperand(person) }));
}

export async function runPeopleGet(deps: Deps, { person }: { readonly person: EmailOrPhone }): Promise<ExitCode> {
  checkColumns(deps, ONE_PERSON);
  const found = await withClient(deps, (client) => findPerson(client, person, deps.signal, WITH_PROPERTIES));
  if (found === null) throw new NothingFoundError(notFound(person));
  await writeRecord(deps, "properties" in found.json || deps.options.columns !== null ? ONE_PERSON : PEOPLE, found);
  return EXIT.done;
}

export const PERSON_OPERAND = ["<email|+phone>", "the person's e-mail address or phone number (E.164)"] as const;

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
    `cannot tell who ${nameOf(reference)} is: the service's list of people does not filter by ${by}`,
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

function nameOf(reference: EmailOrPhone): string {
  return "email" in reference ? reference.email : reference.phone_number;
}

export function notFound(reference: EmailOrPhone): string {
  return `no person found with ${"email" in reference ? "email" : "phone number"} ${nameOf(reference)}`;
}

export function readPersonOperand(text: string): EmailOrPhone {
  if (!/^\d{1,6}$/.test(text.trim())) return parsePerson(text, "person");
  throw new UsageError(`person: ${quoteText(text)} is an id, and this API cannot look people up by id`, {
    hint: `use an email address or a phone number; surveyctl responses list --person-id ${text} shows whose id it is`,
  });
}
