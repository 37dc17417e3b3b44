import type { Json, JsonObject } from "../../contract/json.ts";
import { emailKey } from "../../contract/text/email.ts";
import { toIsoTime } from "../../contract/text/iso-time.ts";

export type Settlement =
  /** `evidence` is one sentence, `found` the stored object. */
  | { readonly kind: "arrived"; readonly evidence: string; readonly found: JsonObject }
  /** The write left no trace, which proves nothing while the request may still be running. */
  | { readonly kind: "absent"; readonly evidence: string }
  /** `mayChange` is true if a later look-up may settle it. */
  | { readonly kind: "unsettled"; readonly reason: string; readonly mayChange?: boolean };

/** Unix seconds by the server's clock. */
export interface Moments {
  /** At or before the first attempt. */
  readonly intentAt: number;
  readonly lookedAt: number;
}

const ROUNDING_SECONDS = 1;

/** A survey that arrived shows up in the person's last or next survey time (4.1). */
export function surveyEvidence(person: JsonObject, body: JsonObject, moments: Moments): Settlement {
  const { intentAt, lookedAt } = moments;
  const lastSentAt = toNumber(person["last_sent_at"]);
  const isOther = lastSentAt === null || lastSentAt < intentAt || lastSentAt === toNumber(body["last_sent_at"]);
  if (!isOther && !isAhead(lastSentAt, lookedAt)) {
    return {
      kind: "arrived",
      evidence: `the person was last sent a survey at ${toIsoTime(lastSentAt)}, after this request began`,
      found: person,
    };
  }
  const delay = toNumber(body["delay"]) ?? 0;
  const scheduledAt = toNumber(person["next_survey_scheduled_at"]);
  if (scheduledAt !== null && scheduledAt >= intentAt + delay && !isAhead(scheduledAt - delay, lookedAt)) {
    return {
      kind: "arrived",
      evidence: `the person's next survey is scheduled at ${toIsoTime(scheduledAt)}, as this request asked`,
      found: person,
    };
  }
  if (!isOther) return CLOCKS_DISAGREE;
  const state =
    scheduledAt === null
      ? "no survey is scheduled"
      : `the next survey, at ${toIsoTime(scheduledAt)}, does not fit this request`;
  return { kind: "unsettled", reason: `the person exists and ${state}`, mayChange: true };
}

function isAhead(at: number, lookedAt: number): boolean {
  return at > lookedAt + ROUNDING_SECONDS;
}

const CLOCKS_DISAGREE: Settlement = { kind: "unsettled", reason: "the service's times are ahead of its own clock" };

/** Also accepts decimal text. */
export function toNumber(value: Json | undefined): number | null {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : null;
}

export type Identifier = { readonly email: string } | { readonly phone_number: string };

/** Includes the lower-case spelling, because some servers compare addresses exactly. */
export function spellingsOf(identifier: Identifier): readonly Identifier[] {
  if (!("email" in identifier)) return [identifier];
  const key = emailKey(identifier.email);
  return key === identifier.email ? [identifier] : [identifier, { email: key }];
}

export function isNamed(person: JsonObject, identifier: Identifier): boolean {
  const { email, phone_number: phone } = person;
  if ("email" in identifier) return typeof email === "string" && normalEmail(email) === normalEmail(identifier.email);
  return typeof phone === "string" && digits(phone) === digits(identifier.phone_number);
}

/** Ignores case, compatibility characters and Punycode. */
function normalEmail(email: string): string {
  const plain = emailKey(email.normalize("NFKC").trim());
  const at = plain.lastIndexOf("@") + 1;
  const domain = `http://${plain.slice(at)}`;
  return URL.canParse(domain) ? plain.slice(0, at) + new URL(domain).hostname : plain;
}

function digits(phone: string): string {
  return phone.replace(/\D/g, "");
}

/** Returns null if the row is a different response. */
export function responseEvidence(
  row: JsonObject,
  body: JsonObject,
  { intentAt, lookedAt }: Moments,
): Settlement | null {
  if (row["score"] !== Number(body["score"]) || textOf(row["comment"]) !== textOf(body["comment"])) return null;
  const createdAt = toNumber(row["created_at"]);
  const given = toNumber(body["created_at"]);
  if (given !== null && createdAt !== given) return null;
  const updatedAt = toNumber(row["updated_at"]);
  const storedAt = Math.max(updatedAt ?? 0, given === null ? (createdAt ?? 0) : 0);
  if (isAhead(storedAt, lookedAt)) return CLOCKS_DISAGREE;
  if (storedAt >= intentAt) {
    return {
      kind: "arrived",
      evidence: `the same response was stored at ${toIsoTime(storedAt)}, after this request began`,
      found: row,
    };
  }
  if (given === null || (updatedAt !== null && updatedAt !== createdAt)) return null;
  // For a back-dated response, the server doesn't say when it was stored.
  return { kind: "unsettled", reason: "the same response exists; its storage time is unknown" };
}

/** Servers may trim text and change line endings. */
function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value.replaceAll(/\r\n?/g, "\n").trim() : "";
}
