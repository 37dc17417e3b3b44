/** An SMS provider: all that is special about it, in one record. */
import type { HttpResponse } from "../../../../contract/http.ts";
import type { Json, JsonObject } from "../../../../contract/json.ts";
import type { SmsField } from "../formats.ts";
import type { GatewayMeaning } from "./answers.ts";

export interface SmsMessage {
  /** Section 2: `+`, country code, number. */
  readonly to: string;
  readonly text: string;
  readonly id: string;
}

export interface GatewaySettings {
  readonly header: { readonly name: string; readonly value: string } | null;
  /** The number or name that messages come from; null leaves it to the gateway. */
  readonly from: string | null;
  readonly fields: { readonly [Field in SmsField]?: string };
}

export interface SmsProvider {
  readonly body: "json" | "form";
  readonly toFields: (gateway: GatewaySettings, message: SmsMessage) => Readonly<Record<string, string>>;
  /** `fields`: the credentials are among the fields and not a header. */
  readonly credentials: "header" | "fields";
  /** The provider sees STOP, START and HELP itself, and answers them. */
  readonly answersWords: boolean;
  /** The meaning of an answer with a status of 2xx. `body` is undefined for text that is not JSON. */
  readonly accepted: (body: Json | undefined, text: string) => GatewayMeaning;
  readonly codeOf: (body: Json | undefined) => string | null;
  readonly byCode: Readonly<Record<string, GatewayMeaning>>;
  /** Texts that people send; null for a gateway whose texts are known by their fields alone. */
  readonly incoming: IncomingForm | null;
  /** Its row in `docs/sms.md`: what is sent, the header, and the answer that counts as sent. */
  readonly documentation: readonly [sent: string, header: string, countsAsSent: string];
}

export interface IncomingForm {
  readonly isFrom: (fields: JsonObject) => boolean;
  /** The fields on one level; null for what is not a text. */
  readonly flatten: (fields: JsonObject) => JsonObject | null;
  readonly isSigned: (key: string, signed: SignedText) => boolean;
  /** What is wrong with a key that the operator gives, as the end of a sentence; null for a sound one. */
  readonly keyProblem: (key: string) => string | null;
  readonly answer: HttpResponse;
  /** Its row in `docs/sms.md`: the proof besides the secret of the path. */
  readonly documentation: readonly [provider: string, proof: string];
}

export interface IncomingRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The address that the gateway was given, with the query that it added. */
  readonly url: string;
  readonly query: string;
  readonly bytes: Uint8Array;
}

export interface SignedText {
  readonly request: IncomingRequest;
  readonly fields: JsonObject;
  readonly now: number;
}

export const CLOCK_SECONDS = 300;

export const NO_CONTENT: HttpResponse = { status: 204, headers: {}, body: "" };

export function fieldText(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

export function readBasic(value: string): { readonly user: string; readonly password: string } {
  const encoded = /^Basic\s+(\S+)$/i.exec(value)?.[1] ?? "";
  const [, user = "", password = ""] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, "base64").toString("utf8")) ?? [];
  return { user, password };
}
