/** How both ends of the control channel show that they know the secret, which itself is never sent. */
import { createHmac, timingSafeEqual } from "node:crypto";

/** Where an answer carries its proof. */
export const PROOF_HEADER = "x-surveyctl-proof";

/** `Proof <nonce> <code>`: the caller's header, for this body alone. */
export function proveRequest(secret: string, nonce: string, body: string): string {
  return `Proof ${nonce} ${codeOf(secret, `request\n${nonce}\n${body}`)}`;
}

/** The nonce of a request that was made with the secret; null for any other. */
export function checkRequest(secret: string, authorization: string | undefined, body: string): string | null {
  const nonce = /^Proof (\S+) \S+$/.exec(authorization ?? "")?.[1];
  if (nonce === undefined || !isEqual(authorization ?? "", proveRequest(secret, nonce, body))) return null;
  return nonce;
}

/** The answer to the request with this nonce. */
export function proveAnswer(secret: string, nonce: string, status: number, body: string): string {
  return codeOf(secret, `answer\n${nonce}\n${status}\n${body}`);
}

export function isEqual(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function codeOf(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("base64url");
}
