import type { Json, JsonObject } from "../../contract/json.ts";
import { emailKey } from "../../contract/email.ts";

/** What a look-up says about a write whose answer was lost. */
export type Settlement =
  /** It arrived; `evidence` is one sentence, `found` what the service holds. */
  | { readonly kind: "arrived"; readonly evidence: string; readonly found: JsonObject }
  /** It did not arrive: a repeat is safe. */
  | { readonly kind: "absent"; readonly evidence: string }
  /** The look-up cannot tell. */
  | { readonly kind: "unsettled"; readonly reason: string };

/** Unix seconds by the service's clock. */
export interface Moments {
  /** At or before the first try. */
  readonly intentAt: number;
  /** When the look-up was answered. */
  readonly lookedAt: number;
}

/** The service rounds to seconds, on both ends. */
const ROUNDING_SECONDS = 1;

/** Evidence in a person's row for `POST /v1/people.json` with a survey (design: "Evidence of arrival"). */
export function judgeSurvey(person: JsonObject, body: JsonObject, { intentAt, lookedAt }: Moments): Settlement {
  const lastSentAt = toNumber(person["last_sent_at"]);
  if (lastSentAt !== null && lastSentAt >= intentAt && lastSentAt !== toNumber(body["last_sent_at"])) {
    return {
      kind: "arrived",
      evidence: `the person was last sent a survey at ${lastSentAt}, after this request began`,
      found: person,
    };
  }
  const delay = toNumber(body["delay"]) ?? 0;
  const scheduledAt = toNumber(person["next_survey_scheduled_at"]);
  if (scheduledAt !== null && scheduledAt >= intentAt + delay && scheduledAt <= lookedAt + delay + ROUNDING_SECONDS) {
    return {
      kind: "arrived",
      evidence: `the person's next survey is scheduled at ${scheduledAt}, as this request asked`,
      found: person,
    };
  }
  const state =
    scheduledAt === null ? "no survey is scheduled" : `the next survey, at ${scheduledAt}, does not fit this request`;
  return { kind: "unsettled", reason: `the person exists and ${state}` };
}

/** A number, also from those who write numbers as text; null when it is none. */
export function toNumber(value: Json | undefined): number | null {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : null;
}

/** Whether a person's row is the one that an identifier names. */
export function isNamed(
  person: JsonObject,
  identifier: { readonly email: string } | { readonly phone_number: string },
): boolean {
  if ("email" in identifier)
    return typeof person["email"] === "string" && emailKey(person["email"]) === emailKey(identifier.email);
  return person["phone_number"] === identifier.phone_number;
}

/** Evidence in one of the person's responses for `POST /v1/survey_responses.json`; null when it is another response. */
export function judgeResponse(row: JsonObject, body: JsonObject, { intentAt }: Moments): Settlement | null {
  if (row["score"] !== Number(body["score"]) || textOf(row["comment"]) !== textOf(body["comment"])) return null;
  const createdAt = toNumber(row["created_at"]);
  const given = toNumber(body["created_at"]);
  if (given !== null && createdAt !== given) return null;
  const updatedAt = toNumber(row["updated_at"]);
  const storedAt = Math.max(updatedAt ?? 0, given === null ? (createdAt ?? 0) : 0);
  if (storedAt >= intentAt) {
    return {
      kind: "arrived",
      evidence: `the same response was stored at ${storedAt}, after this request began`,
      found: row,
    };
  }
  if (given === null || (updatedAt !== null && updatedAt !== createdAt)) return null;
  // Back-dated, and the service does not say when it was stored.
  return { kind: "unsettled", reason: "the same response is there, and when it was stored cannot be told" };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
