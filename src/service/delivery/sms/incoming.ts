import { type Json, type JsonObject, parseJsonObject } from "../../../contract/json.ts";
import { isE164 } from "../../../contract/text/phone.ts";
import type { SigningGateway } from "../../domain/delivery/hook-secrets.ts";
import { callingCode } from "../../domain/sms/recipient-zones.ts";
import type { IncomingText } from "../../domain/sms/receive-text.ts";
import { asText, fieldText, type IncomingForm, type IncomingRequest } from "./providers/provider.ts";
import { INCOMING_FORMS } from "./providers/providers.ts";

/** Null if the body is neither a form nor a JSON object. */
export function readFields({ method, headers, query, bytes }: IncomingRequest): JsonObject | null {
  if (method === "GET") return fromForm(query);
  const text = new TextDecoder().decode(bytes);
  const type = (headers["content-type"] ?? "").toLowerCase();
  if (type.includes("form-urlencoded")) return fromForm(text);
  const body = parseJsonObject(text);
  return body ?? (type === "" && text.includes("=") ? fromForm(text) : null);
}

function fromForm(text: string): JsonObject {
  return Object.fromEntries(new URLSearchParams(text));
}

export function findProvider(
  fields: JsonObject,
): { readonly name: SigningGateway; readonly form: IncomingForm } | null {
  for (const [name, form] of INCOMING_FORMS) if (form.isFrom(fields)) return { name, form };
  return null;
}

const NAMES = {
  from: ["from", "msisdn", "sender"],
  to: ["to", "recipient"],
  text: ["text", "body", "message", "content"],
  id: ["messagesid", "smssid", "messageid", "message_uuid", "message_id", "message-id", "id"],
} as const;

/**
 * Null for anything but a text message, such as a delivery receipt. `countries` are prefixes that complete national
 * numbers.
 */
export function readIncoming(
  fields: JsonObject,
  countries: readonly string[] | null = null,
): IncomingText | { readonly unreadable: string } | null {
  const provider = findProvider(fields);
  const flat = provider === null ? fields : provider.form.flatten(fields);
  if (flat === null) return null;
  const byName = new Map(Object.entries(flat).map(([name, value]) => [name.toLowerCase(), value]));
  const find = (names: readonly string[]): string | null => {
    const found = names.map((name) => asText(byName.get(name))).find((value) => value !== null) ?? null;
    return found === null ? null : storable(found);
  };
  const [sender, text, to] = [find(NAMES.from), find(NAMES.text), find(NAMES.to) ?? ""];
  const from = readPhone(sender ?? "", countries);
  if (text === null) return sender === null && provider === null ? { unreadable: "" } : null;
  if (from === null) return { unreadable: sender ?? "" };
  const own = (readPhone(to, countries) ?? to).replaceAll(/[\s().+-]/g, "");
  const part = readPart(byName);
  const source = provider?.name ?? "gateway";
  return { source, id: find(NAMES.id) || null, from, to: /^\d+$/.test(own) ? own : null, text, part };
}

/** Databases can't store NUL or unpaired surrogates. */
function storable(text: string): string {
  return Buffer.from(text.replaceAll("\0", "")).toString("utf8");
}

/** Reads numbers as gateways write them, such as `+44 (0)20 7946 0018`, `tel:+44-20…`, `0044…` and `44…`. */
function readPhone(text: string, countries: readonly string[] | null): string | null {
  const number = text.trim().replaceAll(/^(?:tel|sms|whatsapp|rcs):|\(0\)|;.*$/gi, "");
  const digits = number.replaceAll(/[\s\p{Cf}()./‐-―-]/gu, "");
  const codes = [...new Set((countries ?? []).map((prefix) => (prefix.startsWith("+1") ? "1" : callingCode(prefix))))];
  const national = codes.filter((code) => (code === "1" ? /^[2-9]\d{9}$/ : /^0[1-9]/).test(digits));
  const isNational = national.length === 1 && !codes.some((code) => digits.startsWith(code));
  const whole = isNational ? national[0] + digits.replace(/^0/, "") : digits.replace(/^(?:\+|00)/, "");
  const phone = `+${whole}`;
  return isE164(phone) ? phone : null;
}

const PARTS_MAX = 20;

function readPart(fields: ReadonlyMap<string, Json>): IncomingText["part"] {
  const whole = (name: string): number => Number(fields.get(name) ?? Number.NaN);
  const [number, total] = [whole("concat-part"), whole("concat-total")];
  const reference = fields.get("concat-ref");
  const isPart = Number.isInteger(number) && number >= 1 && number <= total && total > 1 && total <= PARTS_MAX;
  return isPart && reference !== undefined ? { reference: fieldText(reference), number, total } : null;
}
