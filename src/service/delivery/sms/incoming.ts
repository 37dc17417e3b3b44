/** Text messages as gateways bring them: their fields, the numbers in them, and the signatures on them. */
import { createHash, createHmac, verify } from "node:crypto";
import { type Json, type JsonObject, isJsonObject } from "../../../contract/json.ts";
import { isE164 } from "../../../contract/text/phone.ts";
import { isSameText, readEd25519Key, type SigningGateway } from "../../domain/delivery/hook-secrets.ts";
import type { IncomingText } from "../../domain/sms/receive-text.ts";

/** A request to the hook. */
export interface IncomingRequest {
  readonly method: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The address that the gateway was given, with the query that it added. */
  readonly url: string;
  /** Without the question mark. */
  readonly query: string;
  readonly bytes: Uint8Array;
}

/** Fields of a form or a query are texts. */
export type IncomingFields = JsonObject;

export type IncomingSource = "gateway" | "twilio" | "vonage" | "telnyx";

/** Null for a body that is neither a form nor a JSON object. */
export function readFields({ method, headers, query, bytes }: IncomingRequest): IncomingFields | null {
  if (method === "GET") return fromForm(query);
  // Unlike a buffer's own, it leaves out the mark that some programs put before UTF-8.
  const text = new TextDecoder().decode(bytes);
  const type = (headers["content-type"] ?? "").toLowerCase();
  if (type.includes("form-urlencoded")) return fromForm(text);
  const body = parseObject(text);
  return body ?? (type === "" && text.includes("=") ? fromForm(text) : null);
}

function fromForm(text: string): IncomingFields {
  return Object.fromEntries(new URLSearchParams(text));
}

function parseObject(text: string): JsonObject | null {
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Whose form it is. */
export function sourceOf(fields: IncomingFields): IncomingSource {
  if (isJsonObject(fields.data)) return "telnyx";
  if ("MessageSid" in fields || "SmsSid" in fields) return "twilio";
  if ("msisdn" in fields || "message_uuid" in fields) return "vonage";
  return "gateway";
}

const NAMES = {
  from: ["from", "msisdn", "sender"],
  to: ["to", "recipient"],
  text: ["text", "body", "message", "content"],
  id: ["messagesid", "smssid", "messageid", "message_uuid", "message_id", "message-id", "id"],
} as const;

/** Null for what is no text from a phone: a delivery receipt, a picture alone, a short code's advertisement. */
export function readIncoming(fields: IncomingFields): IncomingText | null {
  const source = sourceOf(fields);
  const flat = source === "telnyx" ? flattenTelnyx(fields) : fields;
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

function flattenTelnyx({ data }: IncomingFields): JsonObject | null {
  const { event_type: type, payload } = isJsonObject(data) ? data : {};
  if (!isJsonObject(payload) || (type !== undefined && type !== "message.received")) return null;
  const { id = null, text = null, from, to } = payload;
  const [first] = Array.isArray(to) ? to : [to];
  return { id, text, from: numberIn(from), to: numberIn(first) };
}

function numberIn(value: Json | undefined): Json {
  return (isJsonObject(value) ? value.phone_number : value) ?? null;
}

/** A `+` that a form has turned into a space, `00` in its place, or none at all: the country's code is there. */
export function readPhone(text: string): string | null {
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
  return isPart && reference !== undefined ? { reference: asField(reference), number, total } : null;
}

const CLOCK_SECONDS = 300;

function asField(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

export interface SignedText {
  readonly request: IncomingRequest;
  readonly fields: IncomingFields;
  /** Unix seconds. */
  readonly now: number;
}

/** Whether the provider has signed this very request with its key. */
export function isSigned(provider: SigningGateway, key: string, signed: SignedText): boolean {
  return SIGNATURES[provider](key, signed);
}

const SIGNATURES: Readonly<Record<SigningGateway, (key: string, signed: SignedText) => boolean>> = {
  twilio: (key, { request: { url, method, headers }, fields }) => {
    const form = method === "GET" ? {} : fields;
    const names = Object.keys(form).toSorted();
    const text = url + names.map((name) => name + asField(form[name])).join("");
    const expected = createHmac("sha1", key).update(text).digest("base64");
    return isSameText(headers["x-twilio-signature"] ?? "", expected);
  },
  // The Messages API brings a token, the SMS API a field.
  vonage: (key, signed) => hasVonageToken(key, signed) || isSignedByVonage(key, signed.fields),
  telnyx: (key, { request: { headers, bytes }, now }) => {
    const { "telnyx-timestamp": timestamp = "", "telnyx-signature-ed25519": signature = "" } = headers;
    if (!(Math.abs(now - Number(timestamp)) <= CLOCK_SECONDS)) return false;
    const text = Buffer.concat([Buffer.from(`${timestamp}|`), bytes]);
    return verify(null, text, readEd25519Key(key), Buffer.from(signature, "base64"));
  },
};

const BEARER = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/i;
/** Vonage brings a text for a day; a token that is older is somebody else's. */
const TOKEN_SECONDS = 86_400 + CLOCK_SECONDS;

/** A JWT (RFC 7519) of HS256 whose claim `payload_hash` is that of this very body; of a GET, that of its fields as JSON. */
function hasVonageToken(key: string, { request: { method, headers, bytes }, fields, now }: SignedText): boolean {
  const [, header = "", claims = "", signature = ""] = BEARER.exec(headers["authorization"] ?? "") ?? [];
  const expected = createHmac("sha256", key).update(`${header}.${claims}`).digest("base64url");
  if (header === "" || !isSameText(signature, expected) || decodePart(header).alg !== "HS256") return false;
  const { payload_hash: hash, iat, exp } = decodePart(claims);
  const isFresh = typeof iat === "number" && iat <= now + CLOCK_SECONDS && iat >= now - TOKEN_SECONDS;
  if (!isFresh || (typeof exp === "number" && exp < now)) return false;
  const payload = method === "GET" ? JSON.stringify(fields) : bytes;
  return typeof hash === "string" && isSameText(hash, createHash("sha256").update(payload).digest("hex"));
}

function decodePart(part: string): JsonObject {
  return parseObject(Buffer.from(part, "base64url").toString("utf8")) ?? {};
}

/** By the length of a signature in hexadecimal digits: the account chooses how it is made. */
const HASHES: Readonly<Record<number, string>> = { 32: "md5", 40: "sha1", 64: "sha256", 128: "sha512" };

function isSignedByVonage(key: string, { sig, ...fields }: IncomingFields): boolean {
  const given = typeof sig === "string" ? sig.toLowerCase() : "";
  const hash = HASHES[given.length];
  if (hash === undefined) return false;
  const text = Object.keys(fields)
    .toSorted()
    .map((name) => `&${name}=${asField(fields[name]).replaceAll(/[&=]/g, "_")}`)
    .join("");
  const expected = [createHmac(hash, key).update(text).digest("hex")];
  if (hash === "md5")
    expected.push(
      createHash("md5")
        .update(text + key)
        .digest("hex"),
    );
  return expected.some((one) => isSameText(given, one));
}
