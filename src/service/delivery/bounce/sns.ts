import { createVerify, X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";
import * as v from "valibot";
import { readAnswerStart } from "../../../runtime/http-exchange.ts";

export type FetchText = (url: string) => Promise<string>;

const ENVELOPE = v.object({
  Type: v.picklist(["Notification", "SubscriptionConfirmation", "UnsubscribeConfirmation"]),
  MessageId: v.string(),
  TopicArn: v.string(),
  Message: v.string(),
  Timestamp: v.string(),
  SignatureVersion: v.picklist(["1", "2"]),
  Signature: v.string(),
  SigningCertURL: v.string(),
  Subject: v.nullish(v.string(), ""),
  SubscribeURL: v.exactOptional(v.string()),
  Token: v.exactOptional(v.string()),
});
export type SnsEnvelope = v.InferOutput<typeof ENVELOPE>;

export function parseEnvelope(body: unknown): SnsEnvelope | null {
  const { success, output } = v.safeParse(ENVELOPE, body);
  return success ? output : null;
}

const HOST = /^sns\.[a-z]{2,3}(?:-[a-z]+)+-\d\.amazonaws\.com(?:\.cn)?$/;
const SIGNED = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
  UnsubscribeConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
} as const;
const CERTIFICATES_MAX = 16;

/** Makes requests only to `sns.<region>.amazonaws.com`, over https. */
export class Sns {
  readonly #fetchText: FetchText;
  readonly #certificates = new Map<string, string>();

  constructor(fetchText: FetchText) {
    this.#fetchText = fetchText;
  }

  async isGenuine(envelope: SnsEnvelope): Promise<boolean> {
    const url = snsUrl(envelope.SigningCertURL);
    if (url === null || url.search !== "" || !url.pathname.endsWith(".pem")) return false;
    return verify(envelope, await this.#certificate(url.href));
  }

  async confirm({ SubscribeURL = "" }: SnsEnvelope): Promise<boolean> {
    const url = snsUrl(SubscribeURL);
    if (url === null || url.searchParams.get("Action") !== "ConfirmSubscription") return false;
    await this.#fetchText(url.href);
    return true;
  }

  async #certificate(url: string): Promise<string> {
    const known = this.#certificates.get(url);
    if (known !== undefined) return known;
    const fetched = await this.#fetchText(url);
    if (this.#certificates.size >= CERTIFICATES_MAX) this.#certificates.clear();
    this.#certificates.set(url, fetched);
    return fetched;
  }
}

function snsUrl(given: string): URL | null {
  if (!URL.canParse(given)) return null;
  const url = new URL(given);
  const isPlain = url.protocol === "https:" && url.port === "" && url.username === "" && url.password === "";
  return isPlain && HOST.test(url.hostname) ? url : null;
}

function verify(envelope: SnsEnvelope, pem: string): boolean {
  const text = SIGNED[envelope.Type]
    .filter((name) => (envelope[name] ?? "") !== "")
    .map((name) => `${name}\n${envelope[name]}\n`)
    .join("");
  try {
    const { publicKey } = new X509Certificate(pem);
    const verifier = createVerify(envelope.SignatureVersion === "1" ? "sha1" : "sha256").update(text);
    return verifier.verify(publicKey, envelope.Signature, "base64");
  } catch {
    return false;
  }
}

const TIMEOUT_MS = 10_000;
const TEXT_MAX = 64 * 1024;

export const fetchText: FetchText = async (url) => {
  const request = get(url, { timeout: TIMEOUT_MS, agent: false });
  request.on("timeout", () => request.destroy(new Error("no answer in time")));
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const { status, bytes } = await readAnswerStart(response, request, TEXT_MAX);
  if (status !== 200) throw new Error(`status ${status}`);
  if (!response.complete || bytes.length > TEXT_MAX) throw new Error("the answer is incomplete or too long");
  return bytes.toString("utf8");
};
