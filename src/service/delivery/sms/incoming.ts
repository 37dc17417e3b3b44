/** Text messages as gateways bring them: their fields, and the numbers in them. */
import { type Json, type JsonObject, parseJsonObject } from "../../../contract/json.ts";
import { isE164 } from "../../../contract/text/phone.ts";
import type { SigningGateway } from "../../domain/delivery/hook-secrets.ts";
import type { IncomingText } from "../../domain/sms/receive-text.ts";
import { fieldText, type IncomingRequest } from "./providers/provider.ts";
import { INCOMING_FORMS } from "./providers/providers.ts";

/** The provider that a text came from; `gateway` for any other. */
export type IncomingSource = "gateway" | SigningGateway;

/** Null for a body that is neither a form nor a JSON object. */
export function readFields({ method, headers, query, bytes }: IncomingRequest): JsonObject | null {
  if (method === "GET") return fromForm(query);
  // Unlike a buffer's own, it leaves out the mark that some programs put before UTF-8.
  const text = new TextDecoder().decode(bytes);
  const type = (headers["content-type"] ?? "").toLowerCase();
  if (type.includes("form-urlencoded")) return fromForm(text);
  const body = parseJsonObject(text);
  return body ?? (type === "" && text.includes("=") ? fromForm(text) : null);
}

function fromForm(text: string): JsonObject {
  return Object.fromEntries(new URLSearchParams(text));
}

export function sourceOf(fields: JsonObject): IncomingSource {
  for (const [name, { isFrom }] of INCOMING_FORMS) if (isFrom(fields)) return name;
  return "gateway";
}

const NAMES = {
  from: ["from", "msisdn", "sender"],
  to: ["to", "recipient"],
  text: ["text", "body", "message", "content"],
  id: ["messagesid", "smssid", "messageid", "message_uuid", "message_id", "message-id", "id"],
} as const;

/** Null for what is no text from a phone: a delivery receipt, a picture alone, a short code's advertisement. */
export function readIncoming(fields: JsonObject): IncomingText | null {
  const source = sourceOf(fields);
  const flat = source === "gateway" ? fields : (INCOMING_FORMS.get(source)?.flatten(fields) ?? null);
  if (flat === null) return null;
  const byName = new Map(Object.entries(flat).map(([name, value]) => [name.toLowerCase(), value]));
  const find = (names: readonly string[]): string | null => {
    for (const name of names) {
      const value = byName.get(name);
      if (typeof value === "string" || typeof value === "number") return storable(String(value));
    }
    return null;
  };
  const [from, text] = [readPhone(find(NAMES.from) ?? ""), find(NAMES.text)];
  if (from === null || text === null) return null;
  const id = find(NAMES.id);
  return { source, id: id === "" ? null : id, from, to: digitsOf(find(NAMES.to)), text, part: readPart(byName) };
}

/** Databases take neither NUL nor half a character. */
function storable(text: string): string {
  return Buffer.from(text.replaceAll("\0", "")).toString("utf8");
}

/** A `+` that a form has turned into a space, `00` in its place, or none at all: the country's code is there. */
function readPhone(text: string): string | null {
  const digits = text.replaceAll(/[\s().-]/g, "");
  const phone = digits.startsWith("+") ? digits : `+${digits.replace(/^00/, "")}`;
  return isE164(phone) ? phone : null;
}

function digitsOf(text: string | null): string | null {
  const digits = text?.replaceAll(/[\s().+-]/g, "") ?? "";
  return /^\d+$/.test(digits) ? digits : null;
}

const PARTS_MAX = 20;

function readPart(fields: ReadonlyMap<string, Json>): IncomingText["part"] {
  const whole = (name: string): number => Number(fields.get(name) ?? Number.NaN);
  const [number, total] = [whole("concat-part"), whole("concat-total")];
  const reference = fields.get("concat-ref");
  const isPart = Number.isInteger(number) && number >= 1 && number <= total && total > 1 && total <= PARTS_MAX;
  return isPart && reference !== undefined ? { reference: fieldText(reference), number, total } : null;
}
