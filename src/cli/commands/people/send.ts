import type { Client, WriteResult } from "../../../client/client.ts";
import { isRepeatablePerson } from "../../../client/write/write-methods.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { describeSurveyStatus, UNKNOWN_REASON } from "../../../contract/text/survey-status.ts";
import { createWallClock } from "../../../runtime/zone.ts";
import { type Deps, withClient } from "../../kit/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { Resource } from "../../render/columns.ts";
import { PEOPLE } from "../../render/resources.ts";
import { isLeftInOutbox, showOutcome, surveyStatusOf, writeDryRun } from "../../kit/write-outcome.ts";
import { writeDone, writeNote, writeWarning } from "../../kit/notes.ts";
import { type Refusal, withRefusals } from "../../kit/refusals.ts";
import { localeWarning } from "../../kit/survey-properties.ts";

/** `plan` returns all changes as one body. It may look up the person. If it rejects, nothing is sent. */
export async function addOrUpdatePerson(
  deps: Deps,
  plan: (client: Client) => Promise<JsonObject>,
  { properties, answer }: { readonly properties: JsonObject | null; readonly answer: Resource },
): Promise<ExitCode> {
  const warning = localeWarning(properties);
  if (warning !== null) await writeWarning(deps, warning);
  return withClient(deps, async (client) => {
    if (!deps.options.dryRun) client.checkMayWrite();
    const [rename, body] = toRequests(await plan(client));
    if (deps.options.dryRun) {
      if (rename !== null) await writeDryRun(deps, client.baseUrl, { route: ROUTES.sendPerson, body: rename });
      await writeDryRun(deps, client.baseUrl, { route: ROUTES.sendPerson, body });
      return EXIT.done;
    }
    if (rename !== null) await sendFirst(client, deps.signal, rename);
    const sent = withRefusals(client.sendPerson(body, { signal: deps.signal }), refusalsOf(body)).then(withStatus);
    const write = rename === null ? sent : sent.catch(async (error) => explainRenameFailure(deps, rename, error));
    const exit = await showOutcome(deps, write, { answer, found: PEOPLE, evidence: evidenceOf(body) });
    if (body["send"] !== false) await writeStatus(deps, await write);
    if (isLeftInOutbox(await write))
      await writeNote(deps, "the survey becomes a file in outbox/: no mail server or gateway is set");
    return exit;
  });
}

/**
 * Returns an optional request to send first, and the main request. With `send=false`, renaming a person changes nothing
 * else (4.2), so other changes need a second request.
 */
function toRequests(body: JsonObject): readonly [JsonObject | null, JsonObject] {
  if (body["send"] !== false || !Object.keys(body).some(isUpdate)) return [null, body];
  const given = Object.entries(body);
  const rename = Object.fromEntries(
    given.filter(([key]) => key === "send" || isUpdate(key) || `${key}_update` in body),
  );
  const rest = Object.fromEntries(
    given.filter(([key]) => !isUpdate(key)).map(([key, value]) => [key, body[`${key}_update`] ?? value]),
  );
  return Object.keys(rest).every((key) => key in rename) ? [null, rename] : [rename, rest];
}

function isUpdate(key: string): boolean {
  return key.endsWith("_update");
}

/** The service refuses a new address or number that another person has, and an old one that no person has (4.2). */
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

async function sendFirst(client: Client, signal: AbortSignal, body: JsonObject): Promise<void> {
  const result = await withRefusals(client.sendPerson(body, { signal }), refusalsOf(body));
  if (result.kind === "unknown") throw result.error.advise(evidenceOf(body));
}

async function explainRenameFailure(deps: Deps, rename: JsonObject, error: unknown): Promise<never> {
  const renames = ["email", "phone_number"].flatMap((key) => {
    const [old, given] = [rename[key], rename[`${key}_update`]];
    return typeof old === "string" && typeof given === "string" ? [`${old} was renamed to ${given}`] : [];
  });
  await writeNote(deps, `${renames.join(", ")} before this failed`);
  throw error;
}

function evidenceOf(body: JsonObject): string {
  const who = [body["email"], body["phone_number"]].find((name) => typeof name === "string");
  const look = `look with "surveyctl people get ${who}"`;
  if (isRepeatablePerson(body)) return `${look}; saving again is safe`;
  return body["send"] === false
    ? `${look} before trying again`
    : `${look} before trying again: a survey may already be scheduled`;
}

/** The scheduled time can be null even though the person was saved: most services return nothing else. */
async function writeStatus(deps: Deps, result: WriteResult): Promise<void> {
  if (result.kind !== "answered") return;
  const status = surveyStatusOf(result);
  const reason = status === null ? null : describeSurveyStatus(status, createWallClock(deps.options.timeZone));
  if (result.reply.json["survey_scheduled_at"] === null)
    await writeDone(deps, reason === null ? `Saved, ${UNKNOWN_REASON}.` : `Saved, not scheduled: ${reason}.`);
  else if (reason !== null) await writeDone(deps, `Scheduled, but nothing is sent at present: ${reason}.`);
}

function withStatus(result: WriteResult): WriteResult {
  const status = surveyStatusOf(result);
  if (status === null || result.kind !== "answered") return result;
  const fields = { survey_status: status.status, survey_status_until: status.until };
  const { reply } = result;
  // Edits the text, because a JavaScript number would lose digits.
  const text = reply.text.trimEnd().replace(/\}$/, `,${JSON.stringify(fields).slice(1)}`);
  return { ...result, reply: { ...reply, text, json: { ...reply.json, ...fields } } };
}
