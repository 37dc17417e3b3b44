const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
const SECRET = /^[!-~]{1,255}$/;
/** Libraries for Standard Webhooks decode the part after this prefix. */
const STANDARD = /^whsec_/;
const BASE64 = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/;
/** Headers that we already set, or that HTTP needs. */
const TAKEN_HEADERS = new Set([
  "connection",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
  "webhook-id",
  "webhook-signature",
  "webhook-timestamp",
]);
export const SIGNATURE_HEADER = "X-Webhook-Signature";

export function refuseSecret(secret: string): string | null {
  if (!SECRET.test(secret)) return "must be 1 to 255 visible ASCII characters";
  return STANDARD.test(secret) && !BASE64.test(secret) ? "must be base64 after whsec_" : null;
}

export function refuseSignatureHeader(name: string): string | null {
  const isUsable = HEADER.test(name) && !TAKEN_HEADERS.has(name.toLowerCase());
  return isUsable ? null : "is not a header name that can be used";
}
