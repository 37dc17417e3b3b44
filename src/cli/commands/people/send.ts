/** `POST /v1/people.json` (4.2) as both `people add` and `people update` use it. */
import type { Client, WriteResult } from "../../../client/client.ts";
import { isRepeatablePerson } from "../../../client/write/write-methods.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { checkColumns } from "../../render/record-output.ts";
import { PEOPLE, SENT_PERSON } from "../../render/resources.ts";
import { isLeftInOutbox, showOutcome, writeDryRun } from "../../command/write-outcome.ts";
import { writeDone, writeNote, writeWarning } from "../../command/notes.ts";
import { type Refusal, tellRefusals } from "../../command/refusals.ts";
import { localeWarning } from "../../command/survey-properties.ts";

export interface AddOrUpdateOptions {
  /** The address or number that the person is looked up by. */
  readonly who: string;
  /** A check before anything is sent or shown; rejects when it fails. */
  readonly before?: (client: Client) => Promise<void>;
  /** A request that must succeed before the body's own. */
  readonly first?: JsonObject | null;
}

export async function addOrUpdatePerson(
  deps: Deps,
  body: JsonObject,
  properties: JsonObject | null,
  { who, before, first = null }: AddOrUpdateOptions,
): Promise<ExitCode> {
  checkColumns(deps, SENT_PERSON);
  const warning = localeWarning(properties);
  if (warning !== null) await writeWarning(deps, warning);
  return withClient(deps, async (client) => {
    if (!deps.options.dryRun) client.checkMayWrite();
    await before?.(client);
    if (deps.options.dryRun) {
      if (first !== null) await writeDryRun(deps, client.baseUrl, { route: ROUTES.sendPerson, body: first });
      await writeDryRun(deps, client.baseUrl, { route: ROUTES.sendPerson, body });
      return EXIT.done;
    }
    if (first !== null) await sendFirst(client, deps.signal, first, who);
    const write = tellRefusals(client.sendPerson(body, { signal: deps.signal }), refusalsOf(body));
    const exit = await showOutcome(deps, write, {
      answer: SENT_PERSON,
      found: PEOPLE,
      evidence: evidenceOf(body, who),
    });
    // A script reads the null; a person sees an empty line and wonders.
    if (deps.streams.out.isTTY && body["send"] !== false && scheduledNone(await write))
      await writeDone(deps, NONE_SCHEDULED);
    if (isLeftInOutbox(await write))
      await writeNote(deps, "the survey becomes a file in outbox/: no mail server or gateway is set");
    return exit;
  });
}

/** An address or number that belongs to another person, or to none where one is to be renamed (4.2). */
function refusalsOf(body: JsonObject): readonly Refusal[] {
  return ["email", "phone_number", "email_update", "phone_number_update"].flatMap((attribute) => {
    const value = body[attribute];
    if (typeof value !== "string") return [];
    const kind = attribute.startsWith("email") ? "email" : "phone number";
    const words = `another person already has the ${kind} ${value}`;
    const absent = { words: `no person found with ${kind} ${value}`, hint: "only an existing person can be renamed" };
    return [
      { status: 422, attribute, says: /taken/, words, hint: `surveyctl people get ${value} shows who` },
      { status: 422, attribute, says: /does not exist/, ...absent },
    ];
  });
}

/** Throws UnknownOutcomeError when it is unknown whether the write arrived. */
async function sendFirst(client: Client, signal: AbortSignal, body: JsonObject, who: string): Promise<void> {
  const result = await tellRefusals(client.sendPerson(body, { signal }), refusalsOf(body));
  if (result.kind === "unknown") throw result.error.advise(evidenceOf(body, who));
}

/** The place to look at, and the effect of a repeat. */
function evidenceOf(body: JsonObject, who: string): string {
  const look = `look with "surveyctl people get ${who}"`;
  if (isRepeatablePerson(body)) return `${look}; saving again is safe`;
  return body["send"] === false
    ? `${look} before trying again`
    : `${look} before trying again: a survey may already be scheduled`;
}

const NONE_SCHEDULED = "Saved. No survey was scheduled: the person was surveyed recently, unsubscribed or bounced.";

/** Throttling is not an error: only the answer's null shows it. */
function scheduledNone(result: WriteResult): boolean {
  return result.kind === "answered" && result.reply.json["survey_scheduled_at"] === null;
}

/** Only what was given, in the specification's order. */
export function toBody(fields: Readonly<Record<string, JsonObject[string] | null>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
