import { isFresh } from "../../hook-replies.ts";
import { createPublicKey, verify } from "node:crypto";
import { isJsonObject, type Json } from "../../../../contract/json.ts";
import { anyCode, asObject, BAD_NUMBER, NO_CONTENT, NONSENSE, sentAs, type SmsProvider, STOPPED } from "./provider.ts";

export const TELNYX: SmsProvider = {
  body: "json",
  toFields: ({ from }, { to, text }) => ({ from: from ?? "", to, text }),
  credentials: "header",
  answersWords: true,
  accepted: (body) => {
    const { id } = asObject(asObject(body).data);
    return typeof id === "string" && id !== "" ? sentAs(id) : NONSENSE;
  },
  codeOf: anyCode,
  byCode: { "40300": STOPPED, "40310": BAD_NUMBER, "40001": BAD_NUMBER },
  incoming: {
    isFrom: ({ data }) => isJsonObject(data),
    flatten: ({ data }) => {
      const { event_type: type, payload } = asObject(data);
      if (!isJsonObject(payload) || (type !== undefined && type !== "message.received")) return null;
      const { id = null, text = null, from, to } = payload;
      const [first] = Array.isArray(to) ? to : [to];
      return { id, text, from: numberIn(from), to: numberIn(first) };
    },
    isSigned: (key, { request: { headers, bytes }, now }) => {
      const { "telnyx-timestamp": timestamp = "", "telnyx-signature-ed25519": signature = "" } = headers;
      if (!isFresh(timestamp, now)) return false;
      const text = Buffer.concat([Buffer.from(`${timestamp}|`), bytes]);
      return verify(null, text, readEd25519Key(key), Buffer.from(signature, "base64"));
    },
    keyProblem: (key) =>
      Buffer.from(key, "base64").byteLength === ED25519_BYTES ? null : "is not a public key in base64",
    answer: NO_CONTENT,
  },
};

function numberIn(value: Json | undefined): Json {
  return (isJsonObject(value) ? value.phone_number : value) ?? null;
}

const ED25519_BYTES = 32;
/** Every Ed25519 key in DER (RFC 8410) starts with these bytes, followed by its 32 bytes. */
const ED25519_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

function readEd25519Key(base64: string): ReturnType<typeof createPublicKey> {
  const der = Buffer.concat([ED25519_PREFIX, Buffer.from(base64, "base64")]);
  return createPublicKey({ key: der, format: "der", type: "spki" });
}
