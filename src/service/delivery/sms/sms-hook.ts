/** The path for incoming texts, which contains a secret. */
import type { HttpResponse } from "../../../contract/http.ts";
import { type Clock, unixSeconds } from "../../../runtime/clock.ts";
import type { Log } from "../../../runtime/log.ts";
import { isHookSecret, readProviderKeys, SIGNING_GATEWAYS } from "../../domain/delivery/hook-secrets.ts";
import type { Store } from "../../domain/ports.ts";
import { receiveText, type TextOutcome } from "../../domain/sms/receive-text.ts";
import type { HookRefusal, HookRequest } from "../bounce/hooks.ts";
import { readFields, readIncoming, sourceOf } from "./incoming.ts";
import { NO_CONTENT } from "./providers/provider.ts";
import type { SmsFormat } from "./formats.ts";
import { INCOMING_FORMS, SMS_PROVIDERS } from "./providers/providers.ts";

export interface SmsHookOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly appUrl: () => string;
  /** Null without a gateway: texts are recorded but not answered. */
  readonly format: SmsFormat | null;
  /** Prefixes whose national numbers are understood; null if texts go everywhere. */
  readonly countries: readonly string[] | null;
  readonly windowSeconds: number;
  readonly metrics: {
    readonly countText: (outcome: TextOutcome) => void;
    readonly countRefusal: (why: HookRefusal) => void;
  };
  readonly onText: () => void;
}

export interface SmsHook {
  readonly handle: (request: HookRequest & { readonly query: string }) => Promise<HttpResponse | null>;
}

const PATH = /^\/hooks\/sms\/([\w-]{16,64})$/;
const BODY_MAX = 64 * 1024;

const UNCLEAR = "a text may be a wish to stop; only a clear one, such as STOP, is obeyed";
const SHAPE_MAX = 40;

/** Responds once a text is recorded; otherwise gateways resend it, and a repeat gets the same response. */
export function createSmsHook(options: SmsHookOptions): SmsHook {
  const { store, clock, log, appUrl, format, countries, windowSeconds, metrics, onText } = options;
  const answersWords = format !== null && SMS_PROVIDERS[format].answersWords;
  const rules = { windowSeconds, isAnsweredByProvider: answersWords, replies: format !== null };
  const refuse = (status: number, why: HookRefusal, message: string): HttpResponse => {
    metrics.countRefusal(why);
    return { status, headers: HEADERS, body: JSON.stringify({ status, message }) };
  };
  const refuseSender = (sender: string): HttpResponse => {
    const shape = sender.replaceAll(/\p{Nd}/gu, "#").slice(0, SHAPE_MAX);
    const message = `a text was refused: its sender "${shape}" is no phone number, or one of an unknown country`;
    log.warn("sms_unreadable", { sender: shape, message });
    return refuse(400, "body", "Bad Request: the sender's phone number cannot be read");
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
    const text = readIncoming(fields, countries);
    if (text !== null && "unreadable" in text) return refuseSender(text.unreadable);
    const outcome =
      text === null ? "ignored" : await store.write((tx) => receiveText(tx, text, rules), { project: "all" });
    metrics.countText(outcome);
    if (outcome === "unclear")
      log.warn("sms_unclear", { source, sender: `…${text?.from.slice(-3)}`, message: UNCLEAR });
    onText();
    return form?.answer ?? NO_CONTENT;
  };
  return {
    handle: async (request) => {
      const [, secret = ""] = PATH.exec(request.path) ?? [];
      if (await store.read((tx) => isHookSecret(tx, secret, "sms"))) return receive(request);
      metrics.countRefusal("secret");
      return null;
    },
  };
}

const HEADERS = { "content-type": "application/json; charset=utf-8" };
