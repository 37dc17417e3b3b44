import type { Command } from "commander";
import type { Client } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { SCORE_MAX, SCORE_MIN } from "../../../contract/limits.ts";
import { ROUTES } from "../../../contract/routes.ts";
import type { Flags } from "../../args/flags.ts";
import { parseKeyValue, parseName, parseScore } from "../../args/values.ts";
import { type EmailOrPhone, parseEmail, parsePhone, type PersonName } from "../../args/people.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { Column, Resource } from "../../render/columns.ts";
import { checkColumns, type RecordValue } from "../../render/record-output.ts";
import { RESPONSES } from "../../render/resources.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { showOutcome, writeDryRun } from "../../command/write-outcome.ts";
import { findPerson, idOfPerson, notFound } from "../people/get.ts";
import { readRecordedTime } from "../../command/time-flags.ts";
import { noPersonWithId, withRefusals } from "../../command/refusals.ts";

export interface ResponsesAddOptions {
  readonly person: PersonName;
  readonly score: number;
  readonly comment: string | null;
  readonly properties: readonly (readonly [string, string])[];
  readonly createdAt: number | null;
}

export function registerResponsesAdd(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "add",
    summary: "add a response that was collected elsewhere",
    examples: [
      "surveyctl responses add --email ada@example.com --score 9 --comment 'Great support'",
      "surveyctl responses add --person-id 2 --score 3 --created-at 2026-01-31 --property plan=pro",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: [
      { flag: "--person-id", value: "id", text: "who answered" },
      { flag: "--email", value: "email", text: "who answered, looked up by address" },
      { flag: "--phone", value: "phone", text: "who answered, looked up by number (E.164)" },
      { flag: "--score", value: "n", text: `${SCORE_MIN} to ${SCORE_MAX}; required` },
      { flag: "--comment", value: "text", text: "what they wrote" },
      {
        flag: "--property",
        value: "key=value",
        text: "a property of this response",
        repeatable: true,
      },
      { flag: "--created-at", value: "time", text: "when it was collected", otherwise: "now" },
    ],
    columns: RESPONSES,
  });
  context.action(command, (deps, flags) => runResponsesAdd(deps, readOptions(deps, flags)));
}

function readOptions(deps: Deps, flags: Flags): ResponsesAddOptions {
  const score = flags.parse("--score", parseScore);
  if (score === null) throw new UsageError(`--score is required: a whole number from ${SCORE_MIN} to ${SCORE_MAX}`);
  return {
    person: readPerson(flags),
    score,
    comment: flags.text("--comment"),
    properties: flags.all("--property").map((text) => parseKeyValue(text, "--property")),
    createdAt: readRecordedTime(deps, flags, "--created-at"),
  };
}

function readPerson(flags: Flags): PersonName {
  const id = flags.parse("--person-id", parseName);
  const email = flags.parse("--email", parseEmail);
  const phone = flags.parse("--phone", parsePhone);
  const names: PersonName[] = [
    ...(id === null ? [] : [{ id }]),
    ...(email === null ? [] : [{ email }]),
    ...(phone === null ? [] : [{ phone_number: phone }]),
  ];
  const [name] = names;
  if (name === undefined || names.length > 1)
    throw new UsageError("specify exactly one of --person-id, --email or --phone");
  return name;
}

export async function runResponsesAdd(deps: Deps, options: ResponsesAddOptions): Promise<ExitCode> {
  checkColumns(deps, RESPONSES);
  return withClient(deps, async (client) => {
    if (!deps.options.dryRun) client.checkMayWrite();
    const found = "id" in options.person ? null : await findAnswerer(client, options.person, deps.signal);
    const person = "id" in options.person ? options.person.id : idOfPerson(client, found);
    const body = toResponseBody(person, options);
    if (deps.options.dryRun) {
      await writeDryRun(deps, client.baseUrl, { route: ROUTES.addResponse, body });
      return EXIT.done;
    }
    const write = withRefusals(
      client.addResponse(body, { signal: deps.signal }),
      noPersonWithId("id" in options.person ? options.person.id : null, "person"),
    );
    const answer = found === null ? RESPONSES : withPerson(RESPONSES, found.json);
    const evidence = `look with "surveyctl responses list --person-id ${person}" before trying again: a repeat would count twice`;
    return showOutcome(deps, write, { answer, found: answer, evidence });
  });
}

async function findAnswerer(client: Client, person: EmailOrPhone, signal: AbortSignal): Promise<RecordValue> {
  const found = await findPerson(client, person, signal);
  if (found !== null) return found;
  const flag = "email" in person ? `--email ${person.email}` : `--phone ${person.phone_number}`;
  throw new NothingFoundError(notFound(person), `add them first: surveyctl people add ${flag} --no-send`);
}

/** The answer has only the id of the person (4.4); the look-up has the rest. */
function withPerson(resource: Resource, person: JsonObject): Resource {
  const known = new Map([
    ["person_email", person["email"]],
    ["person_name", person["name"]],
  ]);
  const columns = resource.columns.map((column): Column => ({
    ...column,
    read: (row) => column.read(row) ?? known.get(column.name),
  }));
  return { ...resource, columns };
}

function toResponseBody(person: string, { score, comment, properties, createdAt }: ResponsesAddOptions): JsonObject {
  return {
    person,
    score,
    ...(properties.length === 0 ? {} : { person_properties: Object.fromEntries(properties) }),
    ...(comment === null ? {} : { comment }),
    ...(createdAt === null ? {} : { created_at: createdAt }),
  };
}
