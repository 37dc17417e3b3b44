import type { Client } from "../../../client/client.ts";
import { RefusedError } from "../../../client/errors/call-errors.ts";
import { capital } from "../../../contract/text/capital.ts";
import { parsePersonName, type PersonName } from "../../args/people.ts";
import type { Deps } from "../../kit/deps.ts";
import { changeEach } from "../../kit/rows/change-each.ts";
import { countOf } from "../../../contract/text/whole-number.ts";
import { writeNote } from "../../kit/notes.ts";
import { complaintsAbout, lacksEndpoint } from "../../kit/refusals.ts";
import { confirmRemoval, YES_FLAG } from "../../kit/removal.ts";
import { type PlannedRequest, settleChange } from "../../kit/write-outcome.ts";
import { KeptError, NothingFoundError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { CommandNode } from "../../kit/command-node.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { type Resource, toResource } from "../../render/columns.ts";
import { timeRange } from "../../kit/time-flags.ts";
import { PERSON_FILTERS } from "./person-filters.ts";
import { isSelecting, selectPeople } from "./select-people.ts";
import { findPerson, personNotFound, personText, requirePerson } from "../shared/find-person.ts";

export const CHANGED_PEOPLE: Resource = {
  ...toResource("people", { person: "text", outcome: "text", error: "text" }),
  flexible: "error",
};

export interface PeopleChange {
  readonly name: string;
  /** `who` is one person's name or the number of people. Omitted if the change can be undone. */
  readonly question?: (who: string, baseUrl: string) => string;
  readonly outcome: string;
  readonly mayStay?: boolean;
  /** The error message if the service lacks the endpoint, such as `this service cannot delete people`. */
  readonly lacking: string;
  readonly plan: (client: Client, person: PersonName, signal: AbortSignal) => Promise<PlannedRequest>;
}

export function changePeople(change: PeopleChange & CommandWords): CommandNode {
  return defineCommand({
    ...change,
    args: { people: PEOPLE_ARG },
    flags: { from: PEOPLE_FROM_FLAG, range: timeRange("created"), filters: PERSON_FILTERS, yes: YES_FLAG },
    columns: CHANGED_PEOPLE,
    run: async (deps, { yes, range, filters, ...chosen }) => {
      if (!isSelecting({ range, filters }))
        return runPeopleChange(deps, change, await readPeople(deps, `people ${change.name}`, chosen), yes);
      if (chosen.from !== null || chosen.people.length > 0)
        throw new UsageError("filters cannot be used together with --from or people by name");
      return runPeopleChange(deps, change, await selectPeople(deps, { range, filters }), yes, true);
    },
  });
}

export const PEOPLE_ARG = {
  form: "[email|+phone|id...]",
  text: "people: e-mail addresses, phone numbers (E.164) or ids",
  parse: (text: string) => parsePersonName(text, "person"),
} as const;

export const PEOPLE_FROM_FLAG = {
  value: "file",
  text: "everyone in a file, or - for standard input: CSV with a header, or one person per line",
} as const;

export async function readPeople(
  deps: Deps,
  command: string,
  { people, from }: { readonly people: readonly PersonName[]; readonly from: string | null },
): Promise<readonly PersonName[]> {
  if (from !== null && people.length > 0) throw new UsageError("--from cannot be used together with people by name");
  if (from === null && people.length === 0)
    throw new UsageError(`${command}: name one person or more, or a file of them with --from`);
  const { PEOPLE_NAMES, readNamesFile } = await import("../shared/names-file.ts");
  if (from !== null) return readNamesFile(deps, from, PEOPLE_NAMES);
  return [...new Map(people.map((person) => [PEOPLE_NAMES.keyOf(person), person])).values()];
}

interface CommandWords {
  readonly alias?: string;
  readonly summary: string;
  readonly examples: readonly string[];
}

export async function runPeopleChange(
  deps: Deps,
  change: PeopleChange,
  people: readonly PersonName[],
  yes: boolean,
  isSelection = false,
): Promise<void> {
  if (people.length === 0) {
    const why = isSelection ? "nobody matches the filters" : "the file has no people";
    return writeNote(deps, `${why}; nobody was ${change.outcome}`);
  }
  const { question } = change;
  const kept = `Nobody was ${change.outcome}.`;
  const removal = { command: `people ${change.name}`, yes, kept, isList: isSelection };
  const ask = isSelection ? askAboutSelection : compose;
  let unchanged = 0;
  await changeEach(deps, {
    items: people,
    resource: CHANGED_PEOPLE,
    named: (person) => ({ person: personText(person) }),
    nameOf: personText,
    plan: (client, person) => change.plan(client, person, deps.signal),
    ...(question && {
      confirm: (client) => confirmRemoval(deps, removal, () => ask(client, question, people, deps.signal)),
    }),
    async work(client, person) {
      const isChanged = await changeOne(deps, client, change, person);
      if (!isChanged) unchanged += 1;
      return { outcome: isChanged ? change.outcome : "unchanged" };
    },
    summary: (settled) =>
      [[change.outcome, settled - unchanged] as const, ["unchanged", unchanged] as const]
        .filter(([, count]) => count > 0)
        .map(([outcome, count]) => `${capital(outcome)}: ${countOf(count, "person", "people")}.`)
        .join(" "),
  });
}

export function toPathName(person: PersonName): string {
  if ("email" in person) return `email:${person.email}`;
  return "id" in person ? person.id : `phone_number:${person.phone_number}`;
}

type Question = NonNullable<PeopleChange["question"]>;

async function compose(
  client: Client,
  question: Question,
  people: readonly PersonName[],
  signal: AbortSignal,
): Promise<string> {
  const [first = { id: "" }] = people;
  for (const person of people.length > LOOKED_UP_MAX ? [] : people)
    if (!("id" in person)) await requirePerson(client, person, signal);
  const who = people.length === 1 ? personText(first) : countOf(people.length, "person", "people");
  return question(who, client.baseUrl);
}

const NAMES_SHOWN = 3;

function askAboutSelection(client: Client, question: Question, people: readonly PersonName[]): string {
  const names = people.slice(0, NAMES_SHOWN).map(personText).join(", ");
  const more = people.length > NAMES_SHOWN ? ", …" : "";
  return question(`${countOf(people.length, "person", "people")} (${names}${more})`, client.baseUrl);
}

const LOOKED_UP_MAX = 20;

async function changeOne(deps: Deps, client: Client, change: PeopleChange, person: PersonName): Promise<boolean> {
  const { signal } = deps;
  const request = await change.plan(client, person, signal);
  const again = `look with "surveyctl people get ${personText(person)}"; the same again is safe`;
  return settleChange(client.change({ ...request, signal }), {
    again,
    explain: (error) => explainRefusal(client, change, person, error, signal),
  });
}

/** A 404 doesn't tell whether the person is unknown or the endpoint is missing. */
export async function explainRefusal(
  client: Client,
  { lacking, mayStay = false }: Pick<PeopleChange, "lacking" | "mayStay">,
  person: PersonName,
  error: RefusedError,
  signal: AbortSignal,
): Promise<Error> {
  const { status } = error;
  const [reason] = mayStay ? complaintsAbout("person", error.details) : [];
  if (reason !== undefined) return new KeptError(`${personText(person)} ${reason}`);
  if (lacksEndpoint(error)) return new NothingFoundError(lacking);
  if (status === 422) return "email" in person ? new NothingFoundError(personNotFound(person)) : error;
  if (status !== 404) return error;
  if ("id" in person) return new NothingFoundError(`${personNotFound(person)}, or ${lacking}`);
  return new NothingFoundError((await findPerson(client, person, signal)) === null ? personNotFound(person) : lacking);
}
