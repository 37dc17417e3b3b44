/** The addresses at which mail providers report bounces and complaints. Their secret is part of the path. */
import { createHmac, verify } from "node:crypto";
import * as v from "valibot";
import type { HttpResponse } from "../../../contract/http.ts";
import { recordReport, type Report, reportedProject } from "../../domain/delivery/bounces.ts";
import {
  HOOK_SOURCES,
  type HookSource,
  isHookSecret,
  isSameText,
  type KeyedProvider,
  providerKey,
  readEcdsaKey,
} from "../../domain/delivery/hook-secrets.ts";
import type { ReportOutcome, Store, Transaction } from "../../domain/ports.ts";
import { readGeneric, readMailgun, readPostmark, readSendGrid, readSes, type ReadEvents } from "./providers.ts";
import { createSns, type FetchText, parseEnvelope, type Sns } from "./sns.ts";
import { eventToReport, type ProviderEvent } from "./to-report.ts";

export type HookRefusal = "secret" | "signature" | "body";

export interface HooksOptions {
  readonly store: Store;
  readonly fetchText: FetchText;
  readonly onReport: (source: HookSource, outcome: ReportOutcome) => void;
  readonly onRefused: (why: HookRefusal) => void;
}

export interface HookRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: () => Promise<Uint8Array>;
}

export interface Hooks {
  /** The answer to a report; null for a path that is none, or has another secret. */
  readonly handle: (request: HookRequest) => Promise<HttpResponse | null> | null;
}

const PATH = /^\/hooks\/bounce\/([\w-]{16,64})(?:\/([a-z]+))?$/;
const BODY_MAX = 1024 * 1024;

/** Answers 200 once a report is stored; a provider repeats what is answered otherwise. */
export function createHooks(options: HooksOptions): Hooks {
  const sns = createSns(options.fetchText);
  const refuse = (status: number, why: HookRefusal, message: string): HttpResponse => {
    options.onRefused(why);
    return answer(status, message);
  };
  const receive = async (request: HookRequest, source: HookSource): Promise<HttpResponse> => {
    if (request.method !== "POST")
      return { ...answer(405, "Method Not Allowed"), headers: { ...JSON_HEADERS, allow: "POST" } };
    const bytes = await request.body();
    if (bytes.byteLength > BODY_MAX) return refuse(413, "body", "Payload Too Large");
    const body = parseJson(bytes);
    const genuine = await isGenuine(options.store, sns, { source, headers: request.headers, bytes, body });
    if (!genuine) return refuse(403, "signature", "Forbidden: the signature is not valid");
    const events = await readEvents(sns, source, body);
    if (events === null) return refuse(400, "body", "Bad Request: this is not a report");
    const reports = events.map((event) => eventToReport(source, event));
    const outcomes = await record(options.store, reports);
    for (const outcome of outcomes) options.onReport(source, outcome);
    return { status: 200, headers: JSON_HEADERS, body: '{"ok":true}' };
  };
  return {
    handle: (request) => {
      if (!request.path.startsWith("/hooks/bounce/")) return null;
      const [, secret = "", name = "hook"] = PATH.exec(request.path) ?? [];
      const source = HOOK_SOURCES.find((one) => one === name);
      return (async () => {
        const isKnown = await options.store.read((tx) => isHookSecret(tx, secret));
        if (isKnown && source !== undefined) return receive(request, source);
        options.onRefused("secret");
        return null;
      })();
    },
  };
}

/** Writes of projects that the reports do not name continue meanwhile. */
async function record(store: Store, reports: readonly Report[]): Promise<readonly ReportOutcome[]> {
  const project = await store.read((tx) => reportedProject(tx, reports));
  const work = async (tx: Transaction): Promise<ReportOutcome[]> => {
    const outcomes: ReportOutcome[] = [];
    for (const report of reports) outcomes.push(await recordReport(tx, report));
    return outcomes;
  };
  return store.write(work, project === null ? {} : { project });
}

const JSON_HEADERS = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

function answer(status: number, message: string): HttpResponse {
  return { status, headers: JSON_HEADERS, body: JSON.stringify({ status, message }) };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return undefined;
  }
}

const EVENTS: Readonly<Record<Exclude<HookSource, "ses">, ReadEvents>> = {
  hook: readGeneric,
  postmark: readPostmark,
  sendgrid: readSendGrid,
  mailgun: readMailgun,
};

/** Null for a body that is none of the source's. A topic's message that is not about mail has no events. */
async function readEvents(sns: Sns, source: HookSource, body: unknown): Promise<readonly ProviderEvent[] | null> {
  if (source !== "ses") return EVENTS[source](body);
  const envelope = parseEnvelope(body);
  if (envelope === null) return null;
  if (envelope.Type === "SubscriptionConfirmation") return (await sns.confirm(envelope)) ? [] : null;
  if (envelope.Type !== "Notification") return [];
  return readSes(envelope.MessageId)(parseJson(Buffer.from(envelope.Message))) ?? [];
}

interface Signed {
  readonly source: HookSource;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
  readonly body: unknown;
}

/** Where no key was given, the secret of the path is all that a provider proves; Amazon always signs. */
async function isGenuine(store: Store, sns: Sns, signed: Signed): Promise<boolean> {
  const { source, headers, bytes, body } = signed;
  if (source === "hook") return true;
  if (source === "ses") {
    const envelope = parseEnvelope(body);
    return envelope === null || sns.isGenuine(envelope);
  }
  const key = await store.read((tx) => providerKey(tx, source));
  return key === null || CHECKS[source](key, headers, bytes, body);
}

type Check = (key: string, headers: Readonly<Record<string, string>>, bytes: Uint8Array, body: unknown) => boolean;

const MAILGUN_SIGNATURE = v.object({
  signature: v.object({ timestamp: v.string(), token: v.string(), signature: v.string() }),
});

const CHECKS: Readonly<Record<KeyedProvider, Check>> = {
  postmark: (key, { authorization = "" }) => isSameText(authorization, `Basic ${Buffer.from(key).toString("base64")}`),
  sendgrid: (key, headers, bytes) => {
    const timestamp = headers["x-twilio-email-event-webhook-timestamp"] ?? "";
    const signature = Buffer.from(headers["x-twilio-email-event-webhook-signature"] ?? "", "base64");
    return verify("sha256", Buffer.concat([Buffer.from(timestamp), bytes]), readEcdsaKey(key), signature);
  },
  mailgun: (key, _headers, _bytes, body) => {
    const { success, output } = v.safeParse(MAILGUN_SIGNATURE, body);
    if (!success) return false;
    const { timestamp, token, signature } = output.signature;
    return isSameText(signature, createHmac("sha256", key).update(`${timestamp}${token}`).digest("hex"));
  },
};
