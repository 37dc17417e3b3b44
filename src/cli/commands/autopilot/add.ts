import type { Command } from "commander";
import type { WriteResult } from "../../../client/client.ts";
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import type { Platform } from "../../../contract/resources.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { checkColumns } from "../../render/record-output.ts";
import { ADDED_MEMBER, MEMBERS } from "../../render/resources.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { describeSurveyStatus } from "../../../contract/text/survey-status.ts";
import { createWallClock } from "../../../runtime/zone.ts";
import { showOutcome, surveyStatusOf, writeDryRun } from "../../command/write-outcome.ts";
import { writeDone, writeWarning } from "../../command/notes.ts";
import {
  localeWarning,
  PROPERTY_FLAGS,
  type PropertySources,
  readPropertyFlags,
  toProperties,
} from "../../command/survey-properties.ts";
import { noPersonWithId, withRefusals } from "../../command/refusals.ts";
import {
  IDENTIFIER_FLAGS,
  type MemberIdentifiers,
  PLATFORM_FLAG,
  readIdentifiers,
  readPlatform,
  toMemberParameters,
} from "./member-identifiers.ts";
import { formatMoment } from "./survey-dates.ts";

export interface AutopilotAddOptions {
  readonly platform: Platform;
  readonly person: MemberIdentifiers;
  readonly name: string | null;
  readonly properties: PropertySources;
}

export function registerAutopilotAdd(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "add",
    summary: "add a person to Autopilot and schedule the first survey, or replace their properties",
    examples: [
      "surveyctl autopilot add --email ada@example.com --name Ada --property plan=pro",
      "surveyctl autopilot add --platform sms --phone +14155550101",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: [
      PLATFORM_FLAG,
      ...IDENTIFIER_FLAGS,
      { flag: "--name", value: "name", text: "the person's name" },
      ...PROPERTY_FLAGS,
    ],
    columns: ADDED_MEMBER,
  });
  context.action(command, async (deps, flags) =>
    runAutopilotAdd(deps, {
      platform: readPlatform(flags),
      person: readIdentifiers(flags),
      name: flags.text("--name"),
      properties: await readPropertyFlags(flags),
    }),
  );
}

export async function runAutopilotAdd(
  deps: Deps,
  { platform, person, name, properties: sources }: AutopilotAddOptions,
): Promise<ExitCode> {
  checkReachable(platform, person);
  checkColumns(deps, ADDED_MEMBER);
  const properties = toProperties(sources);
  const warning = localeWarning(properties);
  if (warning !== null) await writeWarning(deps, warning);
  const body = toMemberBody(person, name, properties);
  return withClient(deps, async (client) => {
    if (deps.options.dryRun) {
      await writeDryRun(deps, client.baseUrl, { route: ROUTES.addMember, placeholders: { platform }, body });
      return EXIT.done;
    }
    const write = withRefusals(
      client.addMember(platform, body, { signal: deps.signal }),
      noPersonWithId(person.personId, "person_id"),
    );
    const evidence = `look with "surveyctl autopilot list --platform ${platform}"; adding again is safe`;
    const status = await showOutcome(deps, write, { answer: ADDED_MEMBER, found: MEMBERS, evidence });
    await tellSurvey(deps, await write);
    return status;
  });
}

/** `Grace Hopper: first survey 2026-12-03 (Thu) 07:14`, where the service tells when; most do not. */
async function tellSurvey(deps: Deps, result: WriteResult): Promise<void> {
  if (result.kind !== "answered") return;
  const { json, status } = result.reply;
  const { person, survey_scheduled_at: at } = json;
  const refused = surveyStatusOf(result);
  if (refused !== null) {
    const reason = describeSurveyStatus(refused, createWallClock(deps.options.timeZone));
    const done = refused.status === "paused" ? "Scheduled, but nothing is sent at present" : "Added, not scheduled";
    return writeDone(deps, `${done}: ${reason}.`);
  }
  if (typeof at !== "number" || !isJsonObject(person)) return;
  const who = [person["name"], person["email"], person["phone_number"]].find((text) => typeof text === "string");
  const which = status === HTTP_CREATED ? "first" : "next";
  await writeDone(deps, `${String(who)}: ${which} survey ${formatMoment(at, deps.options.timeZone)}`);
}

const HTTP_CREATED = 201;

function toMemberBody(person: MemberIdentifiers, name: string | null, properties: JsonObject | null): JsonObject {
  return {
    ...toMemberParameters(person),
    ...(name === null ? {} : { person_name: name }),
    ...(properties === null ? {} : { properties }),
  };
}

/** A known person may be given by any identifier (4.9). */
function checkReachable(platform: Platform, { personId, email, phone }: MemberIdentifiers): void {
  if (personId !== null || email !== null || phone !== null) return;
  const own = platform === "email" ? "--email" : "--phone";
  throw new UsageError(
    `specify --person-id, --email or --phone; a new person requires ${own} for surveys by ${platform}`,
  );
}
