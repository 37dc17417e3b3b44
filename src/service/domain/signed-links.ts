/** Signed links for colleagues, which open a page without a key. */
import { createHmac } from "node:crypto";
import { parseId } from "./ids.ts";
import type { Project } from "./inputs.ts";
import type { Transaction } from "./ports.ts";
import { isSameText } from "./secrets.ts";

export const LINK_SECRET = "links";

const SIGNED_SECONDS = 30 * 86_400;

/** Null if the response doesn't exist. */
export async function signResponseLink(tx: Transaction, project: Project, id: string): Promise<string | null> {
  const key = parseId(id);
  const token = key === null ? null : await tx.responses.token(project.id, key);
  return token === null ? null : signLink(tx, `/r/${token}`);
}

/** The link's lifetime begins at `at`. */
export async function signLink(tx: Transaction, path: string, at = tx.now): Promise<string> {
  const expires = at + SIGNED_SECONDS;
  return `${path}?expires=${expires}&signature=${sign(await tx.secrets.ensure(LINK_SECRET), path, expires)}`;
}

export interface LinkSignature {
  readonly expires: string;
  readonly signature: string;
}

export function readLinkSignature(query: string): LinkSignature {
  const fields = new URLSearchParams(query);
  return { expires: fields.get("expires") ?? "", signature: fields.get("signature") ?? "" };
}

export async function isSignedLink(
  tx: Transaction,
  path: string,
  { expires, signature }: LinkSignature,
): Promise<boolean> {
  const secret = await tx.secrets.read(LINK_SECRET);
  if (secret === null || !/^\d{1,15}$/.test(expires)) return false;
  return isSameText(signature, sign(secret, path, Number(expires))) && Number(expires) >= tx.now;
}

function sign(secret: string, path: string, expires: number): string {
  return createHmac("sha256", secret).update(`${path}?${expires}`).digest("base64url");
}
