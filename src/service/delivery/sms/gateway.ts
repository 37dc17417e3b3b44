/** SMS gateways: how each wants a message, and what its answers mean. */
import type { Json, JsonObject } from "../../../contract/json.ts";
import { isJsonObject } from "../../../contract/json.ts";
import { type CarrierMeaning, NOTHING_MEANT } from "../paced-sender.ts";
import { readBasic, type SmsField, type SmsFormat } from "./formats.ts";
import { toSmsText } from "./segments.ts";

export interface SmsGateway {
  readonly url: string;
  readonly format: SmsFormat;
  /** The credentials; a secret. */
  readonly header: { readonly name: string; readonly value: string } | null;
  /** The number or name that messages come from; null leaves it to the gateway. */
  readonly from: string | null;
  /** Names that the gateway has for fields, in `json` and `form`. */
  readonly fields: { readonly [Field in SmsField]?: string };
}

export interface SmsMessage {
  /** Section 2: `+`, country code, number. */
  readonly to: string;
  readonly text: string;
  /** The same for every attempt. */
  readonly id: string;
}

export interface GatewayRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The same bytes for the same message. */
export function toGatewayRequest(gateway: SmsGateway, message: SmsMessage): GatewayRequest {
  const { format, header } = gateway;
  const isForm = format === "form" || format === "twilio" || format === "vonage";
  const fields = FIELDS[format](gateway, message);
  const type = isForm ? "application/x-www-form-urlencoded" : "application/json";
  // Vonage takes the key and its secret as fields.
  const credentials = header === null || format === "vonage" ? {} : { [header.name.toLowerCase()]: header.value };
  return {
    headers: { "content-type": type, "idempotency-key": message.id, ...credentials },
    body: isForm ? new URLSearchParams(fields).toString() : JSON.stringify(fields),
  };
}

type Fields = Record<string, string>;

const FIELDS: Readonly<Record<SmsFormat, (gateway: SmsGateway, message: SmsMessage) => Fields>> = {
  json: toNamedFields,
  form: toNamedFields,
  twilio: ({ from }, { to, text }) => {
    const isService = /^MG[\da-f]{32}$/i.test(from ?? "");
    return { To: to, [isService ? "MessagingServiceSid" : "From"]: from ?? "", Body: text };
  },
  vonage: ({ from, header }, { to, text }) => {
    const { user, password } = readBasic(header?.value ?? "");
    const type = toSmsText(text).encoding === "ucs-2" ? { type: "unicode" } : {};
    const sender = (from ?? "").replace(/^\+/, "");
    return { api_key: user, api_secret: password, from: sender, to: to.replace(/^\+/, ""), text, ...type };
  },
  telnyx: ({ from }, { to, text }) => ({ from: from ?? "", to, text }),
};

function toNamedFields({ fields, from }: SmsGateway, { to, text, id }: SmsMessage): Fields {
  const name = (field: SmsField): string => fields[field] ?? field;
  return { [name("to")]: to, [name("text")]: text, [name("id")]: id, ...(from !== null && { [name("from")]: from }) };
}

export interface GatewayAnswer {
  /** Of HTTP. */
  readonly status: number;
  readonly text: string;
  /** Seconds; null when the gateway asks for no wait. */
  readonly retryAfter: number | null;
}

/** What became of the message, as the gateway says it. */
export interface GatewayMeaning extends CarrierMeaning {
  /** What the gateway calls the message that it took. */
  readonly serverId: string | null;
  /** The provider's own code. */
  readonly code: string | null;
  /** The number wants no more messages: the provider keeps it from getting them. */
  readonly hasStopped: boolean;
}

const PLAIN = { ...NOTHING_MEANT, serverId: null, code: null, hasStopped: false } as const;
const FAILED = { ...PLAIN, outcome: "failed", strike: true } as const;
const HELD = { ...PLAIN, outcome: "held", sender: "breaker" } as const;
const RETRY = { ...PLAIN, outcome: "retry", sender: "back-off" } as const;
const BAD_NUMBER = { ...PLAIN, outcome: "bounced", hasAddressCode: true } as const;
const STOPPED = { ...PLAIN, outcome: "bounced", hasStopped: true } as const;
/** The message may have gone, and a gateway that answers so gets no more. */
const NONSENSE = { ...PLAIN, outcome: "unknown", sender: "breaker" } as const;
/** A proxy lost the gateway's reply, and with it all knowledge of the message. */
const GATEWAY_TIMEOUT = 504;

/** Statuses by which the gateway or the account is wrong, and not the message. */
const SENDER_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407, 410, 415]);
const LATER_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

/** A message counts as sent only when the gateway says so in words that are understood. */
export function readGatewayAnswer(format: SmsFormat, { status, text, retryAfter }: GatewayAnswer): GatewayMeaning {
  const body = parse(text);
  if (status >= 200 && status < 300) return ACCEPTED[format](body, text);
  const code = CODES[format](body, text);
  const mapped = code === null ? undefined : BY_CODE[format]?.[code];
  if (mapped !== undefined) return { ...mapped, code, afterSeconds: mapped.outcome === "retry" ? retryAfter : null };
  if (LATER_STATUSES.has(status)) return { ...RETRY, code, afterSeconds: retryAfter };
  if (status === GATEWAY_TIMEOUT) return { ...PLAIN, outcome: "unknown", sender: "back-off", code };
  if (status >= 500) return { ...RETRY, code, afterSeconds: retryAfter };
  if (SENDER_STATUSES.has(status) || status < 400) return { ...HELD, code };
  return { ...FAILED, code };
}

/** Undefined for what is not JSON. */
function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

type Read<Result> = (body: Json | undefined, text: string) => Result;

const ACCEPTED: Readonly<Record<SmsFormat, Read<GatewayMeaning>>> = {
  json: acceptedByAny,
  form: acceptedByAny,
  twilio: (body) => {
    const { sid, error_code: error } = asObject(body);
    if (typeof sid !== "string" || sid === "") return NONSENSE;
    const code = error === null || error === undefined ? null : asText(error);
    return code === null ? sentAs(sid) : { ...(BY_CODE.twilio?.[code] ?? FAILED), code };
  },
  telnyx: (body) => {
    const { id } = asObject(asObject(body).data);
    return typeof id === "string" && id !== "" ? sentAs(id) : NONSENSE;
  },
  // One entry for each segment; the status of HTTP is 200 whatever happens.
  vonage: (body) => {
    const { messages } = asObject(body);
    const entries = Array.isArray(messages) ? messages.map(asObject) : [];
    const states = entries.map(({ status }) => asText(status));
    if (states.length > 0 && states.every((state) => state === "0"))
      return sentAs(asText(entries[0]?.["message-id"]) ?? "");
    const [first = null] = states;
    if (first === null || states.includes("0")) return NONSENSE;
    return { ...(BY_CODE.vonage?.[first] ?? FAILED), code: first };
  },
};

function sentAs(id: string): GatewayMeaning {
  return { ...PLAIN, outcome: "sent", serverId: id === "" ? null : id };
}

const PLAIN_MAX = 200;

/** 2xx is enough, unless the body denies it or is no answer of a gateway at all, as a page of a proxy. */
function acceptedByAny(body: Json | undefined, text: string): GatewayMeaning {
  if (body === undefined || typeof body === "string") return acceptedInWords((body ?? text).trim());
  if (typeof body === "number" && body < 0) return { ...FAILED, code: String(body) };
  if (placesIn(body).some(isDenial)) return { ...FAILED, code: anyCode(body) };
  return sentAs(findId(body) ?? "");
}

const DENIAL = /^(?:err|fail|invalid|denied|reject)/i;

function acceptedInWords(said: string): GatewayMeaning {
  if (DENIAL.test(said)) return { ...FAILED, code: /^\S+(?:\s*:)?\s*(\d+)/.exec(said)?.[1] ?? null };
  const isWords = said.length <= PLAIN_MAX && !/[<{[\uFFFD]|\p{Cc}(?<![\r\n\t])/u.test(said);
  return isWords ? sentAs(/\bID:?\s*([\w.-]+)/i.exec(said)?.[1] ?? "") : NONSENSE;
}

function isDenial({ ok, success, status, result, type, error, errors }: JsonObject): boolean {
  const isFalse = [ok, success].some((one) => one === false || (typeof one === "string" && /^false$/i.test(one)));
  const says = [status, result, type].some((one) => DENIAL.test(asText(one) ?? ""));
  return isFalse || says || [error, errors].some((one) => one !== undefined && !isNothing(one));
}

function isNothing(value: Json): boolean {
  if (typeof value === "string") return /^(?:0+|none|null|false|ok|no error|success)?$/i.test(value.trim());
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === null || value === false || value === 0;
}

const ID_PATHS = ["message_id", "messageId", "message-id", "id", "sid", "uuid"] as const;

/** Where gateways tell of the message: at the top, in `data`, or in the first of a list or of `messages`. */
function placesIn(body: Json): readonly JsonObject[] {
  const { data, messages } = asObject(body);
  const places = [
    body,
    data,
    Array.isArray(body) ? body[0] : undefined,
    Array.isArray(messages) ? messages[0] : messages,
  ];
  return places.map(asObject);
}

function findId(body: Json): string | null {
  for (const place of placesIn(body))
    for (const path of ID_PATHS) {
      const id = asText(place[path]);
      if (id !== null) return id;
    }
  return null;
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function asText(value: Json | undefined): string | null {
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}

function anyCode(body: Json | undefined): string | null {
  const { code, error, errors } = asObject(body);
  const [first] = Array.isArray(errors) ? errors : [];
  return asText(code) ?? asText(asObject(error).code) ?? asText(asObject(first).code);
}

const CODES: Readonly<Record<SmsFormat, Read<string | null>>> = {
  json: anyCode,
  form: anyCode,
  twilio: anyCode,
  telnyx: anyCode,
  vonage: (body) => {
    const { messages } = asObject(body);
    return asText(asObject(Array.isArray(messages) ? messages[0] : undefined).status);
  },
};

/** Codes that say more than the status does: whose fault it is, and whether waiting helps. */
const BY_CODE: { readonly [Format in SmsFormat]?: Readonly<Record<string, GatewayMeaning>> } = {
  twilio: { "21610": STOPPED, "21211": BAD_NUMBER, "21614": BAD_NUMBER, "21217": BAD_NUMBER, "20429": RETRY },
  telnyx: { "40300": STOPPED, "40310": BAD_NUMBER, "40001": BAD_NUMBER },
  vonage: {
    "1": RETRY,
    "5": RETRY,
    "6": BAD_NUMBER,
    "7": STOPPED,
    "33": BAD_NUMBER,
    ...Object.fromEntries(["4", "8", "9", "11", "14", "29", "32"].map((code) => [code, HELD])),
  },
};

/** The words of an answer without the credentials that it may repeat. */
export function maskSecret(text: string, { header }: Pick<SmsGateway, "header">): string {
  if (header === null) return text;
  const { user, password } = readBasic(header.value);
  const secrets = [header.value, ...header.value.split(/\s+/).slice(1), password, user];
  return secrets.filter((secret) => secret.length >= 4).reduce((rest, secret) => rest.replaceAll(secret, "***"), text);
}
