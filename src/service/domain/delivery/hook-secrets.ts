import { createPublicKey } from "node:crypto";
import { InvalidError } from "../errors.ts";
import type { Transaction } from "../ports.ts";
import { isSameText } from "../secrets.ts";

export const KEYED_PROVIDERS = ["postmark", "sendgrid", "mailgun"] as const;
export type KeyedProvider = (typeof KEYED_PROVIDERS)[number];
export const HOOK_SOURCES = ["hook", "ses", ...KEYED_PROVIDERS] as const;
export type HookSource = (typeof HOOK_SOURCES)[number];

export const SIGNING_GATEWAYS = ["twilio", "vonage", "telnyx"] as const;
export type SigningGateway = (typeof SIGNING_GATEWAYS)[number];

export type HookName = "hook" | "sms";

export function smsHookPath(secret: string): string {
  return `/hooks/sms/${secret}`;
}

export function hookPath(secret: string, source: HookSource): string {
  return `/hooks/bounce/${secret}${source === "hook" ? "" : `/${source}`}`;
}

/** Creates the secret on first use. */
export async function hookSecret(tx: Transaction, name: HookName = "hook"): Promise<string> {
  return (await tx.secrets.read(`report ${name}`)) ?? rotateHookSecret(tx, name);
}

export async function rotateHookSecret(tx: Transaction, name: HookName = "hook"): Promise<string> {
  const made = tx.token() + tx.token().slice(0, 21);
  await tx.secrets.set(`report ${name}`, made);
  return made;
}

export async function isHookSecret(tx: Transaction, given: string, name: HookName = "hook"): Promise<boolean> {
  const known = await tx.secrets.read(`report ${name}`);
  return known !== null && isSameText(given, known);
}

/** Returns the keys of only those providers that have one. Their unsigned requests are rejected on every path. */
export async function readProviderKeys<Provider extends KeyedProvider | SigningGateway>(
  tx: Transaction,
  providers: readonly Provider[],
): Promise<ReadonlyMap<Provider, string>> {
  const keys = new Map<Provider, string>();
  for (const provider of providers) {
    const key = await tx.secrets.read(`report ${provider}`);
    if (key !== null) keys.set(provider, key);
  }
  return keys;
}

/** A public key in base64, a signing key, or `user:password`; an empty string removes it. Throws InvalidError. */
export async function setHookKey(
  tx: Transaction,
  provider: KeyedProvider | SigningGateway,
  key: string,
): Promise<void> {
  const text = key.trim();
  const keyed = KEYED_PROVIDERS.find((one) => one === provider);
  const problem = text === "" || keyed === undefined ? null : providerKeyProblem(keyed, text);
  if (problem !== null) throw new InvalidError({ [`${provider} key`]: [problem] });
  await tx.secrets.set(`report ${provider}`, text === "" ? null : text);
}

/** What is wrong with a provider's key, as the end of a sentence, or null. */
export function providerKeyProblem(provider: KeyedProvider, key: string): string | null {
  if (provider === "postmark") return /^[^:\s]+:\S+$/.test(key) ? null : "is not of the form user:password";
  if (provider === "mailgun") return /^\S{8,}$/.test(key) ? null : "is not a signing key";
  try {
    return readEcdsaKey(key).asymmetricKeyType === "ec" ? null : "is not an ECDSA key";
  } catch {
    return "is not a public key in base64";
  }
}

/** Reads a public key in base64-encoded DER, as SendGrid shows it. */
export function readEcdsaKey(base64: string): ReturnType<typeof createPublicKey> {
  return createPublicKey({ key: Buffer.from(base64, "base64"), format: "der", type: "spki" });
}
