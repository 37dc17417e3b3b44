import type { HttpResponse, PathRequest } from "../../../contract/http.ts";
import { type Clock, unixSeconds } from "../../../runtime/clock.ts";
import type { Log } from "../../../runtime/log.ts";
import { isHookSecret, readProviderKeys, SIGNING_GATEWAYS } from "../../domain/delivery/hook-secrets.ts";
import type { Store } from "../../domain/ports.ts";
import { type IncomingText, receiveText } from "../../domain/sms/receive-text.ts";
import { HOOK_HEADERS, hookError, type HookMetrics, type HookRefusal } from "../hook-replies.ts";
import { findProvider, readFields, readIncoming } from "./incoming.ts";
import { NO_CONTENT } from "./providers/provider.ts";
import type { SmsFormat } from "./formats.ts";
import { SMS_PROVIDERS } from "./providers/providers.ts";

export interface SmsHookOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly appUrl: () => string;
  /** Null if there is no gateway: text messages are then recorded but not answered. */
  readonly format: SmsFormat | null;
  /** Prefixes whose national numbers are understood; null if messages can go to any country. */
  readonly countries: readonly string[] | null;
  readonly windowSeconds: number;
  readonly metrics: Pick<HookMetrics, "countText" | "countRefusal">;
  readonly onText: () => void;
}

const PATH = /^\/hooks\/sms\/([\w-]{16,64})$/;
const BODY_MAX = 64 * 1024;

const UNCLEAR = "a text might be an opt-out; only a clear one, such as STOP, is obeyed";
const SHAPE_MAX = 40;

/**
 * Responds only once a text message is recorded: gateways resend it if they get no response. A repeat gets the same
 * response.
 */
export class SmsHook {
  readonly #options: SmsHookOptions;

  constructor(options: SmsHookOptions) {
    this.#options = options;
  }

  async handle(request: PathRequest): Promise<HttpResponse | null> {
    const { store, metrics } = this.#options;
    const [, secret = ""] = PATH.exec(request.path) ?? [];
    if (await store.read((tx) => isHookSecret(tx, secret, "sms"))) return this.#receive(request);
    metrics.countRefusal("secret");
    return null;
  }

  async #receive({ method, headers, query, path, body }: PathRequest): Promise<HttpResponse> {
    const { store, clock, appUrl, countries, metrics, onText } = this.#options;
    if (method !== "POST" && method !== "GET")
      return { ...this.#refuse(405, "body", "Method Not Allowed"), headers: { ...HOOK_HEADERS, allow: "GET, POST" } };
    const bytes = method === "GET" ? new Uint8Array() : await body();
    if (bytes.byteLength > BODY_MAX) return this.#refuse(413, "body", "Payload Too Large");
    const url = appUrl() + path + (query === "" ? "" : `?${query}`);
    const incoming = { method, headers, query, url, bytes };
    const fields = readFields(incoming);
    if (fields === null) return this.#refuse(400, "body", "Bad Request: this is not a text message");
    const provider = findProvider(fields);
    const keys = await store.read((tx) => readProviderKeys(tx, SIGNING_GATEWAYS));
    const key = provider === null ? undefined : keys.get(provider.name);
    const signed = { request: incoming, fields, now: unixSeconds(clock) };
    const isGenuine = keys.size === 0 || (key !== undefined && provider?.form.isSigned(key, signed) === true);
    if (!isGenuine) return this.#refuse(403, "signature", "Forbidden: the signature is not valid");
    const text = readIncoming(fields, countries);
    if (text !== null && "unreadable" in text) return this.#refuseSender(text.unreadable);
    if (text === null) metrics.countText("ignored");
    else await this.#record(text);
    onText();
    return provider?.form.answer ?? NO_CONTENT;
  }

  async #record(text: IncomingText): Promise<void> {
    const { store, log, format, windowSeconds, metrics } = this.#options;
    const isAnsweredByProvider = format !== null && SMS_PROVIDERS[format].answersWords;
    const rules = { windowSeconds, isAnsweredByProvider, replies: format !== null };
    const outcome = await store.write((tx) => receiveText(tx, text, rules), { project: "all" });
    metrics.countText(outcome);
    const { source, from } = text;
    if (outcome === "unclear") log.warn("sms_unclear", { source, sender: `…${from.slice(-3)}`, message: UNCLEAR });
  }

  #refuseSender(sender: string): HttpResponse {
    const shape = sender.replaceAll(/\p{Nd}/gu, "#").slice(0, SHAPE_MAX);
    const message = `a text was refused: its sender "${shape}" is no phone number, or one of an unknown country`;
    this.#options.log.warn("sms_unreadable", { sender: shape, message });
    return this.#refuse(400, "body", "Bad Request: the sender's phone number cannot be read");
  }

  #refuse(status: number, why: HookRefusal, message: string): HttpResponse {
    this.#options.metrics.countRefusal(why);
    return hookError(status, message);
  }
}
