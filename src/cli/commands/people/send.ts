/** `POST /v1/people.json` (4.2) as both `people add` and `people update` use it. */
import type { WriteResult } from "../../../client/client.ts";
import { isRepeatablePerson } from "../../../client/write/write-methods.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { ROUTES } from "../../../contract/routes.ts";
import type { Deps } from "../../command/deps.ts";
import { UnknownOutcomeError } from "../../errors/unknown-outcome-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { checkColumns } from "../../render/record-output.ts";
import { PEOPLE, SENT_PERSON } from "../../render/resources.ts";
import { writeDryRun } from "../../command/dry-run.ts";
import { writeNote, writeWarning } from "../../command/notes.ts";
import { localeWarning } from "../../command/survey-properties.ts";
import { withClient } from "../../command/with-client.ts";
import { showOutcome } from "../../command/write-outcome.ts";

export async function sendPerson(
  deps: Deps,
  body: JsonObject,
  properties: JsonObject | null,
  who: string,
  /** A request that must succeed before this one. */
  first: JsonObject | null = null,
): Promise<ExitCode> {
  checkColumns(deps, SENT_PERSON);
  const warning = localeWarning(properties);
  if (warning !== null) await writeWarning(deps, warning);
  return withClient(deps, async (client) => {
    if (deps.options.dryRun) {
      if (first !== null) await writeDryRun(deps, client.baseUrl, { route: ROUTES.sendPerson, body: first });
      await writeDryRun(deps, client.baseUrl, { route: ROUTES.sendPerson, body });
      return EXIT.done;
    }
    if (first !== null) await sendFirst(client.sendPerson(first, { signal: deps.signal }), evidenceOf(first, who));
    const write = client.sendPerson(body, { signal: deps.signal });
    const exit = await showOutcome(deps, write, {
      answer: SENT_PERSON,
      found: PEOPLE,
      evidence: evidenceOf(body, who),
    });
    // A script reads the null; a person sees an empty line and wonders.
    if (deps.streams.out.isTTY && body["send"] !== false && scheduledNone(await write))
      await writeNote(deps, NONE_SCHEDULED);
    return exit;
  });
}

/** Throws UnknownOutcomeError when nothing tells whether the write arrived. */
async function sendFirst(write: Promise<WriteResult>, evidence: string): Promise<void> {
  const result = await write;
  if (result.kind === "unknown") throw new UnknownOutcomeError(result.error, evidence);
}

/** Where to look, and what a repeat may do. */
function evidenceOf(body: JsonObject, who: string): string {
  const look = `look with "surveyctl people get ${who}"`;
  if (isRepeatablePerson(body)) return `${look}; saving again is safe`;
  return body["send"] === false
    ? `${look} before trying again`
    : `${look} before trying again: a survey may already be scheduled`;
}

const NONE_SCHEDULED =
  "saved, but the service scheduled no survey: whoever was asked lately, unsubscribed or bounced is not asked";

/** Throttling is no error of the call: only the answer's null tells of it. */
function scheduledNone(result: WriteResult): boolean {
  return result.kind === "answered" && result.reply.json["survey_scheduled_at"] === null;
}

/** Only what was given, in the specification's order. */
export function toBody(fields: Readonly<Record<string, JsonObject[string] | null>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
