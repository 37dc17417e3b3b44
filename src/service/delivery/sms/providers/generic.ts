import type { Json, JsonObject } from "../../../../contract/json.ts";
import type { SmsField } from "../formats.ts";
import {
  anyCode,
  asObject,
  asText,
  FAILED,
  type GatewayMeaning,
  NONSENSE,
  sentAs,
  type SmsProvider,
} from "./provider.ts";

export const JSON_GATEWAY: SmsProvider = {
  body: "json",
  toFields: ({ fields, from }, { to, text, id }) => {
    const name = (field: SmsField): string => fields[field] ?? field;
    return { [name("to")]: to, [name("text")]: text, [name("id")]: id, ...(from !== null && { [name("from")]: from }) };
  },
  credentials: "header",
  answersWords: false,
  accepted,
  codeOf: anyCode,
  byCode: {},
  incoming: null,
};

export const FORM_GATEWAY: SmsProvider = { ...JSON_GATEWAY, body: "form" };

const PLAIN_MAX = 200;

/** Accepts any 2xx, unless the body reports a failure or isn't the gateway's, such as a proxy's error page. */
function accepted(body: Json | undefined, text: string): GatewayMeaning {
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
  const ids = placesIn(body).flatMap((place) => ID_PATHS.map((path) => asText(place[path])));
  return ids.find((id) => id !== null) ?? null;
}
