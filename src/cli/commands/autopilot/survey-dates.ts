import type { Client } from "../../../client/client.ts";
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import type { JoiningSurveys, Platform } from "../../../contract/resources.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { labelAt } from "../../../runtime/calendar/periods.ts";
import { createWallClock } from "../../../runtime/zone.ts";
import { countOf, formatCount } from "../../../contract/text/whole-number.ts";
import { nullIfRefused } from "../../kit/refusals.ts";

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;

export function formatMoment(at: number, zone: string | null): string {
  const wall = new Date(createWallClock(zone)(at) * 1000);
  const [date, time] = wall.toISOString().split("T");
  return `${date} (${WEEKDAYS[wall.getUTCDay()]}) ${time?.slice(0, 5)}`;
}

function formatDay(at: number, zone: string | null): string {
  return labelAt("day", at, createWallClock(zone));
}

interface JoiningRequest {
  readonly platform: Platform;
  readonly count: number;
  readonly zone: string | null;
  readonly signal: AbortSignal;
}

/**
 * Returns text such as `10,000 members: surveys from 2026-11-25 to 2027-02-22, about 156 each weekday`. Null if the
 * service doesn't report the dates; most don't.
 */
export async function describeJoining(client: Client, request: JoiningRequest): Promise<string | null> {
  const { platform, count, zone, signal } = request;
  const call = { route: ROUTES.getAutopilot, placeholders: { platform }, parameters: { joining: count }, signal };
  const reply = await nullIfRefused(client.call(call));
  if (!isJsonObject(reply?.json.joining)) return null;
  const members = countOf(count, "member");
  if (reply.json.active !== true) return `${members}: no surveys while Autopilot (${platform}) is inactive`;
  return `${members}: ${describeSurveys(reply.json.joining, zone)}`;
}

function describeSurveys(joining: JsonObject, zone: string | null): string {
  const { first_survey_at: first, last_survey_at: last, per_day: perDay, days } = joining as unknown as JoiningSurveys;
  const [from, to] = [formatDay(first, zone), formatDay(last, zone)];
  if (from === to) return `surveys on ${from}`;
  const rate = perDay < 1 ? "" : `, about ${formatCount(perDay)} each ${describeDays(days)}`;
  return `surveys from ${from} to ${to}${rate}`;
}

function describeDays(days: string): string {
  if (days === "mon-fri") return "weekday";
  return days === "any" ? "day" : `day (${days})`;
}
