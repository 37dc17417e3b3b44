import { isJsonObject, type Json } from "../../../../contract/json.ts";
import { type Platform, PLATFORMS } from "../../../../contract/resources.ts";
import { capital } from "../../../../contract/text/capital.ts";
import {
  describeSurveyStatus,
  type SurveyStatus,
  type SurveyStatusName,
} from "../../../../contract/text/survey-status.ts";
import { timeOf } from "../../../export/sources.ts";
import type { KnownPerson } from "./look-up.ts";

type WallClock = (seconds: number) => number;

const ADDRESSES: Readonly<Record<Platform, string>> = { email: "email", sms: "phone_number" };
const BY: Readonly<Record<Platform, string>> = { email: "By e-mail", sms: "By SMS" };

export function explainNext(known: KnownPerson, wallClock: WallClock): string {
  const reached = PLATFORMS.filter((channel) => typeof known.person[ADDRESSES[channel]] === "string");
  const isOnly = reached.length < 2;
  const channels = reached.length === 0 ? PLATFORMS : reached;
  const sentences = channels.map((channel) => explainStatus(known, statusOn(known, channel, isOnly), wallClock));
  if (new Set(sentences).size === 1) return sentences[0] ?? "";
  return channels.map((channel, index) => `${BY[channel]}: ${toClause(sentences[index] ?? "")}`).join(" ");
}

function toClause(sentence: string): string {
  return sentence.replace(": ", ", ").replace(/^./, (first) => first.toLowerCase());
}

function explainStatus(known: KnownPerson, status: SurveyStatus | null, wallClock: WallClock): string {
  if (status !== null) return `${BEGINNINGS[status.status]}: ${describeSurveyStatus(status, wallClock)}.`;
  const { person, isComplete } = known;
  const waiting = isComplete ? waitingMemberships(known) : [];
  if (waiting.length > 0)
    return `Can be surveyed: the next survey waits while Autopilot (${waiting.join(", ")}) is inactive.`;
  const sentAt = timeOf(person, "last_sent_at");
  if (isComplete || sentAt === null) return "Can be surveyed: no survey is scheduled.";
  const words = describeSurveyStatus({ status: "throttled", since: sentAt, until: null }, wallClock);
  return `${capital(words.split(",")[0] ?? "")}; this service does not report its throttle.`;
}

const BEGINNINGS: Readonly<Record<SurveyStatusName, string>> = {
  throttled: "Will not be surveyed for now",
  pending: "Will be surveyed",
  unsubscribed: "Will not be surveyed",
  bounced: "Will not be surveyed",
  unreachable: "Will not be surveyed",
  paused: "Will not be surveyed for now",
};

/** Our service's `survey_status` describes only one of the channels, but a pause or the throttle applies to both. */
function statusOn(known: KnownPerson, channel: Platform, isOnly: boolean): SurveyStatus | null {
  const { person } = known;
  const [left, bounced] =
    channel === "email"
      ? [timeOf(person, "unsubscribed_at"), timeOf(person, "bounced_at")]
      : [timeOf(person, "texts_stopped_at"), null];
  if (left !== null) return { status: "unsubscribed", since: left, until: null };
  if (bounced !== null) return { status: "bounced", since: bounced, until: null };
  const until = isOnly ? timeOf(person, "next_survey_scheduled_at") : nextOn(known, channel);
  const since = timeOf(person, "survey_status_since");
  if (person["survey_status"] === "paused") return { status: "paused", since, until };
  if (until !== null) return { status: "pending", since: null, until };
  if (person["survey_status"] !== "throttled") return null;
  return { status: "throttled", since, until: timeOf(person, "survey_status_until") };
}

const WAITING: ReadonlySet<Json | undefined> = new Set(["scheduled", "claimed", "transmitting", "retrying", "held"]);

/** Our own service lists the person's surveys. Other services report only the next one, in the Autopilot membership. */
function nextOn({ person, autopilot, isComplete }: KnownPerson, channel: Platform): number | null {
  const request = autopilot[channel]?.["next_survey_request"] ?? null;
  if (!isComplete) return isJsonObject(request) ? timeOf(request, "survey_scheduled_at") : null;
  const surveys = Array.isArray(person["surveys"]) ? person["surveys"].filter(isJsonObject) : [];
  const waiting = surveys.filter((survey) => survey["channel"] === channel && WAITING.has(survey["state"]));
  const times = waiting.map((survey) => timeOf(survey, "scheduled_at")).filter((at) => at !== null);
  return times.length === 0 || person["next_survey_scheduled_at"] === null ? null : Math.min(...times);
}

function waitingMemberships({ autopilot }: KnownPerson): readonly Platform[] {
  return PLATFORMS.filter((platform) => {
    const next = autopilot[platform]?.["next_survey_request"] ?? null;
    return isJsonObject(next) && timeOf(next, "survey_scheduled_at") !== null;
  });
}
