/** Signed links to a response: whoever has one reads it, and needs no key. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { parseId } from "../ids.ts";
import type { Project } from "../inputs.ts";
import type { Transaction } from "../ports.ts";

/** Under which the store keeps the key of links. */
export const LINK_SECRET = "links";

/** The time for which a signed link to a response is good. */
const SIGNED_SECONDS = 30 * 86_400;

/** Path and query of a link to a response for whoever has it; null when there is no such response. */
export async function signResponseLink(tx: Transaction, project: Project, id: string): Promise<string | null> {
  const key = parseId(id);
  const token = key === null ? null : await tx.responses.token(project.id, key);
  return token === null ? null : signLink(tx, token);
}

/** The same for the response whose permalink has this token; `at` is when its time begins. */
export async function signLink(tx: Transaction, token: string, at = tx.now): Promise<string> {
  const expires = at + SIGNED_SECONDS;
  return `/r/${token}?expires=${expires}&signature=${sign(await tx.secrets.ensure(LINK_SECRET), token, expires)}`;
}

/** True when this link was signed here and is still good. */
export async function isSignedLink(
  tx: Transaction,
  token: string,
  { expires, signature }: { readonly expires: string; readonly signature: string },
): Promise<boolean> {
  const secret = await tx.secrets.read(LINK_SECRET);
  if (secret === null || !/^\d{1,15}$/.test(expires)) return false;
  const [given, right] = [Buffer.from(signature), Buffer.from(sign(secret, token, Number(expires)))];
  return given.length === right.length && timingSafeEqual(given, right) && Number(expires) >= tx.now;
}

function sign(secret: string, token: string, expires: number): string {
  return createHmac("sha256", secret).update(`r/${token}?${expires}`).digest("base64url");
}
