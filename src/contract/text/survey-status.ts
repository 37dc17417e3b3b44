/** Our server reports in a header why a survey isn't sent, because the specification defines the bodies. */
import { toIsoTime } from "./iso-time.ts";

/**
 * `throttled`: surveyed too recently. `pending`: a survey is already scheduled. `unreachable`: no address for the
 * channel. `paused`: scheduled, but sending is paused or, if there is no `since`, its Autopilot is inactive.
 */
export const SURVEY_STATUSES = ["throttled", "pending", "unsubscribed", "bounced", "unreachable", "paused"] as const;
export type SurveyStatusName = (typeof SURVEY_STATUSES)[number];

export interface SurveyStatus {
  readonly status: SurveyStatusName;
  /** Unix seconds of the last survey, unsubscribe, bounce or pause; null if unknown. */
  readonly since: number | null;
  /** Unix seconds: the end of the throttle, or when the scheduled survey is due; null if it is open-ended. */
  readonly until: number | null;
}

export const SURVEY_STATUS_HEADER = "x-survey-status";

/** `throttled; until=1766188800; since=1763596800`. */
export function formatSurveyStatus({ status, since, until }: SurveyStatus): string {
  return [status, ...(until === null ? [] : [`until=${until}`]), ...(since === null ? [] : [`since=${since}`])].join(
    "; ",
  );
}

export function parseSurveyStatus(text: string): SurveyStatus | null {
  const [name, ...parts] = text.split(";").map((part) => part.trim());
  const status = SURVEY_STATUSES.find((one) => one === name);
  if (status === undefined) return null;
  const time = (key: string): number | null => {
    const digits = parts.find((part) => part.startsWith(`${key}=`))?.slice(key.length + 1) ?? "";
    return /^\d{1,15}$/.test(digits) ? Number(digits) : null;
  };
  return { status, since: time("since"), until: time("until") };
}

export const UNKNOWN_REASON = "not scheduled: surveyed recently, already scheduled, unsubscribed or bounced";

/** `surveyed on 2026-11-20, throttled until 2026-12-20`. `wallClock` converts Unix to local seconds. */
export function describeSurveyStatus(
  { status, since, until }: SurveyStatus,
  wallClock: (seconds: number) => number,
): string {
  const minute = (at: number): string => toIsoTime(wallClock(at)).replace(/T(\d\d:\d\d).*/, " $1");
  const day = (at: number): string => minute(at).replace(/ .*/, "");
  switch (status) {
    case "throttled": {
      // If a throttle ends on the day it began, the message needs the time.
      const write = since !== null && until !== null && day(since) === day(until) ? minute : day;
      const start = since === null ? "" : `surveyed on ${write(since)}, `;
      return `${start}throttled${until === null ? "" : ` until ${write(until)}`}`;
    }
    case "pending":
      return `a survey is already scheduled${until === null ? "" : ` for ${minute(until)}`}`;
    case "unreachable":
      return "no address on this channel";
    case "paused":
      if (since === null) return "Autopilot is inactive";
      return `paused since ${minute(since)}${until === null ? "" : `, and a survey is scheduled for ${minute(until)}`}`;
    default:
      return since === null ? status : `${status} on ${day(since)}`;
  }
}
