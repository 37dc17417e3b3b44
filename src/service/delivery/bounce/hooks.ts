import { createHmac, verify } from "node:crypto";
import * as v from "valibot";
import type { HttpResponse, PathRequest } from "../../../contract/http.ts";
import { parseJson } from "../../../contract/json.ts";
import { recordReports, type Report, reportedProject } from "../../domain/delivery/bounces.ts";
import {
  HOOK_SOURCES,
  type HookSource,
  isHookSecret,
  KEYED_PROVIDERS,
  type KeyedProvider,
  readEcdsaKey,
  readProviderKeys,
} from "../../domain/delivery/hook-secrets.ts";
import type { ReportOutcome, Store, Transaction } from "../../domain/ports.ts";
import { isSameText } from "../../domain/secrets.ts";
import { HOOK_HEADERS, hookError, type HookMetrics, type HookRefusal, isFresh } from "../hook-replies.ts";
import { readGeneric, readMailgun, readPostmark, readSendGrid, readSes, type ReadEvents } from "./providers.ts";
import { type FetchText, fetchText, parseEnvelope, Sns } from "./sns.ts";
import { eventToReport, type ProviderEvent } from "./to-report.ts";

export interface BounceHooksOptions {
  readonly store: Store;
  readonly fetchText?: FetchText;
  readonly metrics: Pick<HookMetrics, "countReport" | "countRefusal">;
}

const PATH = /^\/hooks\/bounce\/([\w-]{16,64})(?:\/([a-z]+))?$/;
const FORGED = "Forbidden: the signature is not valid";

/** Responds with 200 only once a report is stored: providers resend a report that got no 200. */
export class BounceHooks {
  readonly #options: BounceHooksOptions;
  readonly #sns: Sns;

  constructor(options: BounceHooksOptions) {
    this.#options = options;
    this.#sns = new Sns(options.fetchText ?? fetchText);
  }

  /** Null if the path has no valid secret. */
  async handle(request: PathRequest): Promise<HttpResponse | null> {
    const { store, metrics } = this.#options;
    const [, secret = "", name = "hook"] = PATH.exec(request.path) ?? [];
    const source = HOOK_SOURCES.find((one) => one === name);
    if (source !== undefined && (await store.read((tx) => isHookSecret(tx, secret))))
      return this.#receive(request, source);
    metrics.countRefusal("secret");
    return null;
  }

  async #receive(request: PathRequest, source: HookSource): Promise<HttpResponse> {
    const { store, metrics } = this.#options;
    if (request.method !== "POST")
      return { ...hookError(405, "Method Not Allowed"), headers: { ...HOOK_HEADERS, allow: "POST" } };
    const bytes = await request.body();
    const body = parseJson(Buffer.from(bytes).toString("utf8"));
    const proof = await prove(store, this.#sns, { source, headers: request.headers, bytes, body });
    if (proof === "unsigned")
      return this.#refuse(403, "signature", "Forbidden: a key is kept, so unsigned reports are refused");
    if (proof === "forged") return this.#refuse(403, "signature", FORGED);
    const events = await readEvents(this.#sns, source, body);
    if (events === null) return this.#refuse(400, "body", "Bad Request: this is not a report");
    const reports = events.map((event) => eventToReport(source, event));
    const outcomes = await record(store, reports, proof);
    if (outcomes === null) return this.#refuse(403, "signature", FORGED);
    for (const outcome of outcomes) metrics.countReport(source, outcome);
    return { status: 200, headers: HOOK_HEADERS, body: '{"ok":true}' };
  }

  #refuse(status: number, why: HookRefusal, message: string): HttpResponse {
    this.#options.metrics.countRefusal(why);
    return hookError(status, message);
  }
}

/** Returns null and records nothing if any process has already used the proof. */
async function record(
  store: Store,
  reports: readonly Report[],
  { token }: Proof,
): Promise<readonly ReportOutcome[] | null> {
  const project = await store.read((tx) => reportedProject(tx, reports));
  const work = async (tx: Transaction): Promise<ReportOutcome[] | null> => {
    if (token !== null && !(await tx.reports.note("mailgun token", token))) return null;
    return recordReports(tx, reports);
  };
  return store.write(work, { project });
}

const EVENTS: Readonly<Record<Exclude<HookSource, "ses">, ReadEvents>> = {
  hook: readGeneric,
  postmark: readPostmark,
  sendgrid: readSendGrid,
  mailgun: readMailgun,
};

/** Null if the body isn't in the source's format. A message of the SNS topic that isn't about mail has no events. */
async function readEvents(sns: Sns, source: HookSource, body: unknown): Promise<readonly ProviderEvent[] | null> {
  if (source !== "ses") return EVENTS[source](body);
  const envelope = parseEnvelope(body);
  if (envelope === null) return null;
  if (envelope.Type === "SubscriptionConfirmation") return (await sns.confirm(envelope)) ? [] : null;
  if (envelope.Type !== "Notification") return [];
  return readSes(envelope.MessageId)(parseJson(envelope.Message)) ?? [];
}

interface Signed {
  readonly source: HookSource;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly body: unknown;
}

interface Proof {
  /**
   * The signature's token, if the signature doesn't cover the body. It's accepted once, so it can't prove another body.
   */
  readonly token: string | null;
}

const PROVEN: Proof = { token: null };

/** Without a signing key, the secret in the path is the only proof. Amazon always signs. */
async function prove(store: Store, sns: Sns, signed: Signed): Promise<Proof | "forged" | "unsigned"> {
  const { source, body } = signed;
  if (source === "ses") {
    const envelope = parseEnvelope(body);
    return envelope === null || (await sns.isGenuine(envelope)) ? PROVEN : "forged";
  }
  const { keys, now } = await store.read(async (tx) => ({
    keys: await readProviderKeys(tx, KEYED_PROVIDERS),
    now: tx.now,
  }));
  if (keys.size === 0) return PROVEN;
  const key = source === "hook" ? undefined : keys.get(source);
  if (source === "hook" || key === undefined) return "unsigned";
  return CHECKS[source](key, signed, now) ?? "forged";
}

const MAILGUN_SIGNATURE = v.object({
  signature: v.object({ timestamp: v.string(), token: v.string(), signature: v.string() }),
});

type Check = (key: string, signed: Signed, now: number) => Proof | null;

const CHECKS: Readonly<Record<KeyedProvider, Check>> = {
  postmark: (key, { headers: { authorization = "" } }) =>
    isSameText(authorization, `Basic ${Buffer.from(key).toString("base64")}`) ? PROVEN : null,
  sendgrid: (key, { headers, bytes }, now) => {
    const timestamp = headers["x-twilio-email-event-webhook-timestamp"] ?? "";
    const signature = Buffer.from(headers["x-twilio-email-event-webhook-signature"] ?? "", "base64");
    const content = Buffer.concat([Buffer.from(timestamp), bytes]);
    return isFresh(timestamp, now) && verify("sha256", content, readEcdsaKey(key), signature) ? PROVEN : null;
  },
  mailgun: (key, { body }, now) => {
    const { success, output } = v.safeParse(MAILGUN_SIGNATURE, body);
    if (!success) return null;
    const { timestamp, token, signature } = output.signature;
    const expected = createHmac("sha256", key).update(`${timestamp}${token}`).digest("hex");
    return isFresh(timestamp, now) && isSameText(signature, expected) ? { token } : null;
  },
};
