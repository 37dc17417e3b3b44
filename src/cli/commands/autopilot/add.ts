import type { WriteResult } from "../../../client/client.ts";
import { isJsonObject } from "../../../contract/json.ts";
import type { Platform } from "../../../contract/resources.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { type Deps, withClient } from "../../kit/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { ADDED_MEMBER, MEMBERS } from "../../render/resources.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { describeSurveyStatus } from "../../../contract/text/survey-status.ts";
import { createWallClock } from "../../../runtime/zone.ts";
import { showOutcome, surveyStatusOf, toBody, writeDryRun } from "../../kit/write-outcome.ts";
import { writeDone, writeWarning } from "../../kit/notes.ts";
import { localeWarning, surveyProperties } from "../../kit/survey-properties.ts";
import { noPersonWithId, withRefusals } from "../../kit/refusals.ts";
import { MEMBER, type MemberIdentifiers, PLATFORM, toMemberParameters } from "./member-identifiers.ts";
import { formatMoment } from "./survey-dates.ts";

export const add = defineCommand({
  name: "add",
  summary: "add a person to Autopilot and schedule the first survey, or replace their properties",
  examples: [
    "surveyctl autopilot add --email ada@example.com --name Ada --property plan=pro",
    "surveyctl autopilot add --platform sms --phone +14155550101",
  ],
  flags: {
    platform: PLATFORM,
    member: MEMBER,
    name: { value: "name", text: "the person's name" },
    properties: surveyProperties(),
  },
  columns: ADDED_MEMBER,
  run: async (deps, { platform, member, name, properties }) => {
    checkReachable(platform, member);
    const warning = localeWarning(properties);
    if (warning !== null) await writeWarning(deps, warning);
    const body = { ...toMemberParameters(member), ...toBody({ person_name: name, properties }) };
    return withClient(deps, async (client) => {
      if (deps.options.dryRun)
        return writeDryRun(deps, client.baseUrl, { route: ROUTES.addMember, placeholders: { platform }, body });
      const write = withRefusals(
        client.addMember(platform, body, { signal: deps.signal }),
        noPersonWithId(member.personId, "person_id"),
      );
      const evidence = `look with "surveyctl autopilot list --platform ${platform}"; adding again is safe`;
      await showOutcome(deps, write, { answer: ADDED_MEMBER, found: MEMBERS, evidence });
      await writeSchedule(deps, await write);
    });
  },
});

/** Prints `Grace Hopper: first survey 2026-12-03 (Thu) 07:14` if the service returns the time. Most don't. */
async function writeSchedule(deps: Deps, result: WriteResult): Promise<void> {
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

/** A known person can be added by any identifier (4.9). */
function checkReachable(platform: Platform, { personId, email, phone }: MemberIdentifiers): void {
  if (personId !== null || email !== null || phone !== null) return;
  const own = platform === "email" ? "--email" : "--phone";
  throw new UsageError(
    `specify --person-id, --email or --phone; a new person requires ${own} for surveys by ${platform}`,
  );
}
