/** The address at which a gateway delivers text messages. Its secret is part of the path. */
import type { HttpResponse } from "../../../contract/http.ts";
import { type Clock, unixSeconds } from "../../../runtime/clock.ts";
import { isHookSecret, readProviderKeys, SIGNING_GATEWAYS } from "../../domain/delivery/hook-secrets.ts";
import type { Store } from "../../domain/ports.ts";
import { receiveText, type TextOutcome, type TextRules } from "../../domain/sms/receive-text.ts";
import type { HookRefusal, HookRequest } from "../bounce/hooks.ts";
import { type IncomingSource, readFields, readIncoming, sourceOf } from "./incoming.ts";
import { NO_CONTENT } from "./providers/provider.ts";
import { INCOMING_FORMS } from "./providers/providers.ts";

export interface SmsHookOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** The address that gateways reach the service by, without a slash at the end. */
  readonly appUrl: () => string;
  readonly rules: TextRules;
  /** Replies may be due now. */
  readonly onText: (source: IncomingSource, outcome: TextOutcome) => void;
  readonly onRefused: (why: HookRefusal) => void;
}

export interface SmsHook {
  /** The answer to a text; null for a path with another secret. */
  readonly handle: (request: HookRequest & { readonly query: string }) => Promise<HttpResponse | null>;
}

const PATH = /^\/hooks\/sms\/([\w-]{16,64})$/;
const BODY_MAX = 64 * 1024;

/** Answers once a text is recorded; gateways repeat what is answered otherwise, and a repeat gets the same answer. */
export function createSmsHook({ store, clock, appUrl, rules, onText, onRefused }: SmsHookOptions): SmsHook {
  const refuse = (status: number, why: HookRefusal, message: string): HttpResponse => {
    onRefused(why);
    return { status, headers: HEADERS, body: JSON.stringify({ status, message }) };
  };
  const receive = async (request: HookRequest & { readonly query: string }): Promise<HttpResponse> => {
    const { method, headers, query, path } = request;
    if (method !== "POST" && method !== "GET")
      return { ...refuse(405, "body", "Method Not Allowed"), headers: { ...HEADERS, allow: "GET, POST" } };
    const bytes = method === "GET" ? new Uint8Array() : await request.body();
    if (bytes.byteLength > BODY_MAX) return refuse(413, "body", "Payload Too Large");
    const url = appUrl() + path + (query === "" ? "" : `?${query}`);
    const incoming = { method, headers, query, url, bytes };
    const fields = readFields(incoming);
    if (fields === null) return refuse(400, "body", "Bad Request: this is not a text message");
    const source = sourceOf(fields);
    const keys = await store.read((tx) => readProviderKeys(tx, SIGNING_GATEWAYS));
    const form = source === "gateway" ? undefined : INCOMING_FORMS.get(source);
    const key = source === "gateway" ? undefined : keys.get(source);
    const signed = { request: incoming, fields, now: unixSeconds(clock) };
    const isGenuine = keys.size === 0 || (key !== undefined && form?.isSigned(key, signed) === true);
    if (!isGenuine) return refuse(403, "signature", "Forbidden: the signature is not valid");
    const text = readIncoming(fields);
    const outcome = text === null ? "ignored" : await store.write((tx) => receiveText(tx, text, rules));
    onText(source, outcome);
    return form?.answer ?? NO_CONTENT;
  };
  return {
    handle: async (request) => {
      const [, secret = ""] = PATH.exec(request.path) ?? [];
      if (await store.read((tx) => isHookSecret(tx, secret, "sms"))) return receive(request);
      onRefused("secret");
      return null;
    },
  };
}

const HEADERS = { "content-type": "application/json; charset=utf-8" };
