/** Why a person will or will not be surveyed next: one sentence, or one for each channel where they differ. */
import { isJsonObject, type Json, type JsonObject } from "../../../../contract/json.ts";
import { type Platform, PLATFORMS } from "../../../../contract/resources.ts";
import { capital } from "../../../../contract/text/capital.ts";
import {
  describeSurveyStatus,
  SURVEY_STATUSES,
  type SurveyStatus,
  type SurveyStatusName,
} from "../../../../contract/text/survey-status.ts";
import type { KnownPerson } from "./look-up.ts";

const ADDRESSES: Readonly<Record<Platform, string>> = { email: "email", sms: "phone_number" };
const BY: Readonly<Record<Platform, string>> = { email: "By e-mail", sms: "By SMS" };

/** `wallClock` turns Unix seconds into those of a clock on the wall. */
export function explainNext(known: KnownPerson, wallClock: (seconds: number) => number): string {
  const { person, isComplete } = known;
  const told = isComplete ? toldStatus(person) : guessStatus(person);
  if (PLATFORMS.some((channel) => typeof person[ADDRESSES[channel]] !== "string"))
    return explainStatus(known, told, wallClock);
  const sentences = PLATFORMS.map((channel) => explainStatus(known, statusOn(known, channel, told), wallClock));
  if (new Set(sentences).size === 1) return sentences[0] ?? "";
  return PLATFORMS.map((channel, index) => {
    const [beginning = "", ...reason] = (sentences[index] ?? "").split(": ");
    return `${BY[channel]}: ${[beginning.replace(/^./, (first) => first.toLowerCase()), ...reason].join(", ")}`;
  }).join(" ");
}

function explainStatus(
  known: KnownPerson,
  status: SurveyStatus | null,
  wallClock: (seconds: number) => number,
): string {
  const { person, isComplete } = known;
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

/** `told` is about the person, and may be the other channel's. */
function statusOn(known: KnownPerson, channel: Platform, told: SurveyStatus | null): SurveyStatus | null {
  const left = leftOn(known.person, channel);
  if (left !== null) return left;
  const until = nextOn(known, channel);
  if (told?.status === "paused") return { ...told, until };
  if (until !== null) return { status: "pending", since: null, until };
  return told?.status === "throttled" ? told : null;
}

const WAITING: ReadonlySet<Json | undefined> = new Set(["scheduled", "claimed", "transmitting", "retrying", "held"]);

/** Our own service lists surveys; of others a membership tells when the next one is due. */
function nextOn({ person, autopilot, isComplete }: KnownPerson, channel: Platform): number | null {
  const request = autopilot[channel]?.["next_survey_request"] ?? null;
  if (!isComplete) return isJsonObject(request) ? timeOf(request, "survey_scheduled_at") : null;
  const surveys = Array.isArray(person["surveys"]) ? person["surveys"].filter(isJsonObject) : [];
  const waiting = surveys.filter((survey) => survey["channel"] === channel && WAITING.has(survey["state"]));
  const times = waiting.map((survey) => timeOf(survey, "scheduled_at")).filter((at) => at !== null);
  return times.length === 0 || person["next_survey_scheduled_at"] === null ? null : Math.min(...times);
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
  return leftOn(person, "email") ?? pending(person);
}

/** Unsubscribes and bounces are about e-mail; who texts STOP has left the texts. */
function leftOn(person: JsonObject, channel: Platform): SurveyStatus | null {
  const left = timeOf(person, channel === "email" ? "unsubscribed_at" : "texts_stopped_at");
  if (left !== null) return { status: "unsubscribed", since: left, until: null };
  const bounced = channel === "email" ? timeOf(person, "bounced_at") : null;
  return bounced === null ? null : { status: "bounced", since: bounced, until: null };
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
