import { SIGNATURE_SECONDS } from "../../hook-replies.ts";
import { createHash, createHmac } from "node:crypto";
import { type JsonObject, parseJsonObject } from "../../../../contract/json.ts";
import { isSameText } from "../../../domain/secrets.ts";
import { toSmsText } from "../segments.ts";
import {
  asObject,
  asText,
  BAD_NUMBER,
  FAILED,
  fieldText,
  HELD,
  NO_CONTENT,
  NONSENSE,
  readBasic,
  RETRY,
  sentAs,
  type SignedText,
  type SmsProvider,
  STOPPED,
} from "./provider.ts";

const BY_CODE: SmsProvider["byCode"] = {
  "1": RETRY,
  "5": RETRY,
  "6": BAD_NUMBER,
  "7": STOPPED,
  "33": BAD_NUMBER,
  ...Object.fromEntries(["4", "8", "9", "11", "14", "29", "32"].map((code) => [code, HELD])),
};

export const VONAGE: SmsProvider = {
  body: "form",
  toFields: ({ from, header }, { to, text }) => {
    const { user, password } = readBasic(header?.value ?? "");
    const type = toSmsText(text).encoding === "ucs-2" ? { type: "unicode" } : {};
    const sender = (from ?? "").replace(/^\+/, "");
    return { api_key: user, api_secret: password, from: sender, to: to.replace(/^\+/, ""), text, ...type };
  },
  credentials: "fields",
  answersWords: false,
  // The response has one entry per segment; its HTTP status is always 200.
  accepted: (body) => {
    const { messages } = asObject(body);
    const entries = Array.isArray(messages) ? messages.map(asObject) : [];
    const states = entries.map(({ status }) => asText(status));
    if (states.length > 0 && states.every((state) => state === "0"))
      return sentAs(asText(entries[0]?.["message-id"]) ?? "");
    const [first = null] = states;
    if (first === null || states.includes("0")) return NONSENSE;
    return { ...(BY_CODE[first] ?? FAILED), code: first };
  },
  codeOf: (body) => {
    const { messages } = asObject(body);
    return asText(asObject(Array.isArray(messages) ? messages[0] : undefined).status);
  },
  byCode: BY_CODE,
  incoming: {
    isFrom: (fields) => "msisdn" in fields || "message_uuid" in fields,
    flatten: (fields) => fields,
    // Vonage's Messages API signs with a token, its SMS API with a field.
    isSigned: (key, signed) => hasToken(key, signed) || hasSignature(key, signed.fields),
    keyProblem: (key) => (/^\S{8,}$/.test(key) ? null : "is not a signature secret"),
    answer: NO_CONTENT,
  },
};

const BEARER = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/i;
const TOKEN_SECONDS = 86_400 + SIGNATURE_SECONDS;

/** A JWT (RFC 7519, HS256) whose claim `payload_hash` matches the body or, for GET, the fields as JSON. */
function hasToken(key: string, { request: { method, headers, bytes }, fields, now }: SignedText): boolean {
  const [, header = "", claims = "", signature = ""] = BEARER.exec(headers["authorization"] ?? "") ?? [];
  const expected = createHmac("sha256", key).update(`${header}.${claims}`).digest("base64url");
  if (header === "" || !isSameText(signature, expected) || decodePart(header).alg !== "HS256") return false;
  const { payload_hash: hash, iat, exp } = decodePart(claims);
  const isFresh = typeof iat === "number" && iat <= now + SIGNATURE_SECONDS && iat >= now - TOKEN_SECONDS;
  if (!isFresh || (typeof exp === "number" && exp < now)) return false;
  const payload = method === "GET" ? JSON.stringify(fields) : bytes;
  return typeof hash === "string" && isSameText(hash, createHash("sha256").update(payload).digest("hex"));
}

function decodePart(part: string): JsonObject {
  return parseJsonObject(Buffer.from(part, "base64url").toString("utf8")) ?? {};
}

/** The signature's length in hex digits reveals the algorithm chosen for the account. */
const HASHES: Readonly<Record<number, string>> = { 32: "md5", 40: "sha1", 64: "sha256", 128: "sha512" };

function hasSignature(key: string, { sig, ...fields }: JsonObject): boolean {
  const given = typeof sig === "string" ? sig.toLowerCase() : "";
  const hash = HASHES[given.length];
  if (hash === undefined) return false;
  const text = Object.keys(fields)
    .toSorted()
    .map((name) => `&${name}=${fieldText(fields[name]).replaceAll(/[&=]/g, "_")}`)
    .join("");
  const keyed = text + key;
  const plain = hash === "md5" ? [createHash("md5").update(keyed).digest("hex")] : [];
  return [createHmac(hash, key).update(text).digest("hex"), ...plain].some((one) => isSameText(given, one));
}
