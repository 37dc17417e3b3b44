/**
 * The secrets of the hooks' paths and the providers' keys: they let providers report bounces and bring text messages
 * over HTTP.
 */
import { createPublicKey } from "node:crypto";
import { InvalidError } from "../errors.ts";
import type { Transaction } from "../ports.ts";
import { isSameText } from "../secrets.ts";

/** Providers that sign with a key, or log in. */
export const KEYED_PROVIDERS = ["postmark", "sendgrid", "mailgun"] as const;
export type KeyedProvider = (typeof KEYED_PROVIDERS)[number];
/** The providers whose reports are understood; `hook` is our own form. */
export const HOOK_SOURCES = ["hook", "ses", ...KEYED_PROVIDERS] as const;
export type HookSource = (typeof HOOK_SOURCES)[number];

/** Providers of text messages that sign what they bring. */
export const SIGNING_GATEWAYS = ["twilio", "vonage", "telnyx"] as const;
export type SigningGateway = (typeof SIGNING_GATEWAYS)[number];

/** The hooks that have a secret of their own. */
export type HookName = "hook" | "sms";

/** The path that a gateway brings text messages to. */
export function smsHookPath(secret: string): string {
  return `/hooks/sms/${secret}`;
}

/** The path that a provider posts to. */
export function hookPath(secret: string, source: HookSource): string {
  return `/hooks/bounce/${secret}${source === "hook" ? "" : `/${source}`}`;
}

/** The secret of the path; made at first use. */
export async function hookSecret(tx: Transaction, name: HookName = "hook"): Promise<string> {
  return (await tx.reports.secret(name)) ?? rotateHookSecret(tx, name);
}

/** Makes the secret of the path anew, which ends the old one. */
export async function rotateHookSecret(tx: Transaction, name: HookName = "hook"): Promise<string> {
  // 256 bits.
  const made = tx.token() + tx.token().slice(0, 21);
  await tx.reports.setSecret(name, made);
  return made;
}

/** Compares with the secret in a time that does not depend on the place where they differ. */
export async function isHookSecret(tx: Transaction, given: string, name: HookName = "hook"): Promise<boolean> {
  const known = await tx.reports.secret(name);
  return known !== null && isSameText(given, known);
}

/**
 * The key that a provider's posts are checked with, for each that gave one. Once there is one, what is not signed with
 * it is refused on every path: the secret of the path proves nothing any more.
 */
export async function readProviderKeys<Provider extends KeyedProvider | SigningGateway>(
  tx: Transaction,
  providers: readonly Provider[],
): Promise<ReadonlyMap<Provider, string>> {
  const keys = new Map<Provider, string>();
  for (const provider of providers) {
    const key = await tx.reports.secret(provider);
    if (key !== null) keys.set(provider, key);
  }
  return keys;
}

/**
 * Keeps a provider's key: SendGrid's public key in base64, Mailgun's signing key, or the `user:password` that Postmark
 * logs in with; or the key that a gateway signs with. An empty text removes it. Throws InvalidError.
 */
export async function setHookKey(
  tx: Transaction,
  provider: KeyedProvider | SigningGateway,
  key: string,
): Promise<void> {
  const text = key.trim();
  const keyed = KEYED_PROVIDERS.find((one) => one === provider);
  const problem = text === "" || keyed === undefined ? null : providerKeyProblem(keyed, text);
  if (problem !== null) throw new InvalidError({ [`${provider} key`]: [problem] });
  await tx.reports.setSecret(provider, text === "" ? null : text);
}

/** The fault of a provider's key, as the end of a sentence about it; null: none that can be seen. */
export function providerKeyProblem(provider: KeyedProvider, key: string): string | null {
  if (provider === "postmark") return /^[^:\s]+:\S+$/.test(key) ? null : "is not of the form user:password";
  if (provider === "mailgun") return /^\S{8,}$/.test(key) ? null : "is not a signing key";
  try {
    return readEcdsaKey(key).asymmetricKeyType === "ec" ? null : "is not an ECDSA key";
  } catch {
    return "is not a public key in base64";
  }
}

/** DER in base64, as SendGrid shows it. */
export function readEcdsaKey(base64: string): ReturnType<typeof createPublicKey> {
  return createPublicKey({ key: Buffer.from(base64, "base64"), format: "der", type: "spki" });
}
