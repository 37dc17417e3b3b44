/** `POST /v1/people.json` (4.2) as both `people add` and `people update` use it. */
import type { Client, WriteResult } from "../../../client/client.ts";
import { isRepeatablePerson } from "../../../client/write/write-methods.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { describeSurveyStatus, STATUS_UNTOLD } from "../../../contract/text/survey-status.ts";
import { createWallClock } from "../../../runtime/zone.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { Resource } from "../../render/columns.ts";
import { checkColumns } from "../../render/record-output.ts";
import { PEOPLE, SENT_PERSON } from "../../render/resources.ts";
import { isLeftInOutbox, showOutcome, surveyStatusOf, writeDryRun } from "../../command/write-outcome.ts";
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
  /** The columns of the answer. */
  readonly answer?: Resource;
}

export async function addOrUpdatePerson(
  deps: Deps,
  body: JsonObject,
  properties: JsonObject | null,
  { who, before, first = null, answer = SENT_PERSON }: AddOrUpdateOptions,
): Promise<ExitCode> {
  checkColumns(deps, answer);
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
    const write = tellRefusals(client.sendPerson(body, { signal: deps.signal }), refusalsOf(body)).then(withStatus);
    const exit = await showOutcome(deps, write, {
      answer,
      found: PEOPLE,
      evidence: evidenceOf(body, who),
    });
    if (body["send"] !== false) await tellStatus(deps, await write);
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

/** Not an error: who is not surveyed is saved all the same, and the answer of most services shows it by a null alone. */
async function tellStatus(deps: Deps, result: WriteResult): Promise<void> {
  if (result.kind !== "answered") return;
  const status = surveyStatusOf(result);
  const reason = status === null ? null : describeSurveyStatus(status, createWallClock(deps.options.timeZone));
  if (result.reply.json["survey_scheduled_at"] === null)
    await writeDone(deps, reason === null ? `Saved, ${STATUS_UNTOLD}.` : `Saved, not scheduled: ${reason}.`);
  else if (reason !== null) await writeDone(deps, `Scheduled, but nothing is sent at present: ${reason}.`);
}

/** The answer with the status that our own service tells in a header. */
function withStatus(result: WriteResult): WriteResult {
  const status = surveyStatusOf(result);
  if (status === null || result.kind !== "answered") return result;
  const fields = { survey_status: status.status, survey_status_until: status.until };
  const { reply } = result;
  // The text keeps digits that a JavaScript number has not.
  const text = reply.text.trimEnd().replace(/\}$/, `,${JSON.stringify(fields).slice(1)}`);
  return { ...result, reply: { ...reply, text, json: { ...reply.json, ...fields } } };
}

/** Only what was given, in the specification's order. */
export function toBody(fields: Readonly<Record<string, JsonObject[string] | null>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
