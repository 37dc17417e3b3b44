import type { HttpResponse } from "../../../../contract/http.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../../contract/json.ts";
import type { SmsField } from "../formats.ts";
import { type Meaning, NOTHING_MEANT } from "../../carrier.ts";

export interface SmsMessage {
  readonly to: string;
  readonly text: string;
  readonly id: string;
}

export interface GatewaySettings {
  readonly header: { readonly name: string; readonly value: string } | null;
  readonly from: string | null;
  readonly fields: { readonly [Field in SmsField]?: string };
}

export interface SmsProvider {
  readonly body: "json" | "form";
  readonly toFields: (gateway: GatewaySettings, message: SmsMessage) => Readonly<Record<string, string>>;
  readonly credentials: "header" | "fields";
  /** The provider handles STOP, START and HELP itself. */
  readonly answersWords: boolean;
  /** Interprets a 2xx response. `body` is undefined if it isn't JSON. */
  readonly accepted: (body: Json | undefined, text: string) => GatewayMeaning;
  readonly codeOf: (body: Json | undefined) => string | null;
  readonly byCode: Readonly<Record<string, GatewayMeaning>>;
  readonly incoming: IncomingForm | null;
}

export interface IncomingForm {
  readonly isFrom: (fields: JsonObject) => boolean;
  /** Null if the request isn't an incoming text message. */
  readonly flatten: (fields: JsonObject) => JsonObject | null;
  readonly isSigned: (key: string, signed: SignedText) => boolean;
  /** What is wrong with the operator's key, phrased as the end of a sentence, or null. */
  readonly keyProblem: (key: string) => string | null;
  readonly answer: HttpResponse;
}

export interface IncomingRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The URL given to the gateway, with the query that the gateway added. */
  readonly url: string;
  readonly query: string;
  readonly bytes: Uint8Array;
}

export interface SignedText {
  readonly request: IncomingRequest;
  readonly fields: JsonObject;
  readonly now: number;
}

export const NO_CONTENT: HttpResponse = { status: 204, headers: {}, body: "" };

export function fieldText(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

export function readBasic(value: string): { readonly user: string; readonly password: string } {
  const encoded = /^Basic\s+(\S+)$/i.exec(value)?.[1] ?? "";
  const [, user = "", password = ""] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, "base64").toString("utf8")) ?? [];
  return { user, password };
}

export interface GatewayMeaning extends Meaning {
  readonly serverId: string | null;
  readonly code: string | null;
}

export const PLAIN = { ...NOTHING_MEANT, serverId: null, code: null } as const;
export const FAILED = { ...PLAIN, outcome: "failed", strike: true } as const;
export const HELD = { ...PLAIN, outcome: "held", sender: "breaker", isBeforeRecipient: true } as const;
export const RETRY = { ...PLAIN, outcome: "retry", sender: "back-off" } as const;
export const BAD_NUMBER = { ...PLAIN, outcome: "bounced", hasAddressCode: true } as const;
export const STOPPED = { ...PLAIN, outcome: "bounced", hasStopped: true } as const;
/** The message may have been sent, but a gateway that responds like this gets no more messages. */
export const NONSENSE = { ...PLAIN, outcome: "unknown", sender: "breaker" } as const;

export function sentAs(id: string): GatewayMeaning {
  return { ...PLAIN, outcome: "sent", serverId: id === "" ? null : id };
}

export function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function asText(value: Json | undefined): string | null {
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}

export function anyCode(body: Json | undefined): string | null {
  const { code, error, errors } = asObject(body);
  const [first] = Array.isArray(errors) ? errors : [];
  return asText(code) ?? asText(asObject(error).code) ?? asText(asObject(first).code);
}
