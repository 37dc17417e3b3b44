/** The reason why a person will or will not be surveyed next, in one sentence. */
import { isJsonObject, type JsonObject } from "../../../../contract/json.ts";
import { type Platform, PLATFORMS } from "../../../../contract/resources.ts";
import { capital } from "../../../../contract/text/capital.ts";
import {
  describeSurveyStatus,
  SURVEY_STATUSES,
  type SurveyStatus,
  type SurveyStatusName,
} from "../../../../contract/text/survey-status.ts";
import type { KnownPerson } from "./look-up.ts";

/** `wallClock` turns Unix seconds into those of a clock on the wall. */
export function explainNext(known: KnownPerson, wallClock: (seconds: number) => number): string {
  const { person, isComplete } = known;
  const status = isComplete ? toldStatus(person) : guessStatus(person);
  if (status === null) {
    const waiting = isComplete ? waitingMemberships(known) : [];
    if (waiting.length > 0)
      return `Can be surveyed: the next survey waits while Autopilot (${waiting.join(", ")}) is inactive.`;
    const sentAt = timeOf(person, "last_sent_at");
    if (isComplete || sentAt === null) return "Can be surveyed: no survey is scheduled.";
    const words = describeSurveyStatus({ status: "throttled", since: sentAt, until: null }, wallClock);
    return `${capital(words.split(",")[0] ?? "")}; this service does not report its throttle.`;
  }
  return `${BEGINNINGS[status.status]}: ${describeSurveyStatus(status, wallClock)}.`;
}

const BEGINNINGS: Readonly<Record<SurveyStatusName, string>> = {
  throttled: "Will not be surveyed for now",
  pending: "Will be surveyed",
  unsubscribed: "Will not be surveyed",
  bounced: "Will not be surveyed",
  unreachable: "Will not be surveyed",
  paused: "Will not be surveyed for now",
};

/** Our own service's word. A survey that waits is also told where no throttle makes it a reason, or comes after one. */
function toldStatus(person: JsonObject): SurveyStatus | null {
  const status = SURVEY_STATUSES.find((one) => one === person["survey_status"]);
  if (status === undefined) return pending(person);
  const told = { status, since: timeOf(person, "survey_status_since"), until: timeOf(person, "survey_status_until") };
  return status === "throttled" ? (pending(person) ?? told) : told;
}

/** From what lists tell; null where they tell nothing. */
function guessStatus(person: JsonObject): SurveyStatus | null {
  const left = timeOf(person, "unsubscribed_at");
  if (left !== null) return { status: "unsubscribed", since: left, until: null };
  const bounced = timeOf(person, "bounced_at");
  return bounced === null ? pending(person) : { status: "bounced", since: bounced, until: null };
}

function pending(person: JsonObject): SurveyStatus | null {
  const until = timeOf(person, "next_survey_scheduled_at");
  return until === null ? null : { status: "pending", since: null, until };
}

/** Platforms whose next survey is none of those that the person is told to wait for: they are inactive. */
function waitingMemberships({ autopilot }: KnownPerson): readonly Platform[] {
  return PLATFORMS.filter((platform) => {
    const next = autopilot[platform]?.["next_survey_request"] ?? null;
    return isJsonObject(next) && timeOf(next, "survey_scheduled_at") !== null;
  });
}

function timeOf(person: JsonObject, field: string): number | null {
  const value = person[field];
  return typeof value === "number" ? value : null;
}
