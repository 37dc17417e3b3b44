import { createHmac } from "node:crypto";
import { VERSION } from "../../runtime/version.ts";
import type { WebhookRow } from "../domain/ports.ts";

const PREFIX = "whsec_";

/**
 * While a secret is being replaced, the Standard Webhooks header has both signatures, and our own header only the new
 * one's.
 */
export function signedHeaders(
  webhook: Pick<WebhookRow, "secret" | "previousSecret" | "previousUntil" | "signatureHeader">,
  { eventId, body }: { readonly eventId: string; readonly body: string },
  now: number,
): Record<string, string> {
  const { secret, previousSecret, previousUntil, signatureHeader } = webhook;
  const old = previousSecret !== null && previousUntil !== null && now < previousUntil ? [previousSecret] : [];
  const signed = `${eventId}.${now}.${body}`;
  const signatures = [secret, ...old].map((key) => `v1,${hmac(signingKey(key), signed).toString("base64")}`);
  return {
    "content-type": "application/json",
    "user-agent": `surveyctl/${VERSION}`,
    "webhook-id": eventId,
    "webhook-timestamp": String(now),
    "webhook-signature": signatures.join(" "),
    [signatureHeader]: `sha256=${hmac(Buffer.from(secret), body).toString("hex")}`,
  };
}

function signingKey(secret: string): Buffer {
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), "base64") : Buffer.from(secret);
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
