import * as v from "valibot";
import { clearBounce, listSoftBounces } from "../domain/delivery/bounces.ts";
import {
  HOOK_SOURCES,
  hookPath,
  hookSecret,
  type HookSource,
  KEYED_PROVIDERS,
  type KeyedProvider,
  readProviderKeys,
  rotateHookSecret,
  setHookKey,
  type SigningGateway,
  SIGNING_GATEWAYS,
  smsHookPath,
} from "../domain/delivery/hook-secrets.ts";
import type { Transaction } from "../domain/ports.ts";
import { PAGE } from "./define/fields.ts";
import { defineOperation } from "./define/operation.ts";

/** Keys by provider; an empty string clears one. */
const keysOf = <const Name extends string>(names: readonly Name[]) =>
  v.partial(v.strictObject(Object.fromEntries(names.map((name) => [name, v.string()])) as Record<Name, typeof key>));
const key = v.string();

export const bounceOperations = {
  "bounce.clear": defineOperation({
    access: "write",
    input: { email: v.string() },
    run: async (tx, project, { email }) => {
      const { bouncedAt, evidence } = await clearBounce(tx, project, email);
      return {
        email,
        bounced_at: bouncedAt,
        /** From the reply that reported the bounce; null if that wasn't stored. */
        reported_at: evidence?.at ?? null,
        stage: evidence?.stage ?? null,
        code: evidence?.code ?? null,
        enhanced_code: evidence?.enhancedCode ?? null,
        text: evidence?.text ?? null,
      };
    },
  }),
  "bounce.list": defineOperation({
    access: "read",
    input: PAGE,
    run: async (tx, project, { after, limit }) => {
      const found = await listSoftBounces(tx, project, { after: after ?? 0, limit: limit + 1 });
      const rows = found.slice(0, limit).map(({ personId, email, count, lastAt, text }) => {
        return { id: String(personId), email, soft_bounces: count, last_at: lastAt, text };
      });
      return { rows, next: found.length > limit ? (rows.at(-1)?.id ?? null) : null };
    },
  }),
  "bounce.hook": defineOperation({
    scope: "server",
    access: ({ rotate, keys }) => (rotate || Object.keys(keys).length > 0 ? "write" : "read"),
    writesAnyway: true,
    input: { rotate: v.boolean(), keys: keysOf(KEYED_PROVIDERS) },
    run: async (tx, _, { rotate, keys: given }, { appUrl }) => {
      const secret = await (rotate ? rotateHookSecret : hookSecret)(tx);
      const keys = await keepKeys(tx, KEYED_PROVIDERS, given);
      return HOOK_SOURCES.map((provider) => ({
        provider,
        url: appUrl() + hookPath(secret, provider),
        proof: requiredProof(provider, keys),
      }));
    },
  }),
  /** If `signed_by` is empty, the secret in the URL is the only proof. */
  "sms.hook": defineOperation({
    scope: "server",
    access: ({ rotate, keys }) => (rotate || Object.keys(keys).length > 0 ? "write" : "read"),
    writesAnyway: true,
    input: { rotate: v.boolean(), keys: keysOf(SIGNING_GATEWAYS) },
    run: async (tx, _, { rotate, keys }, { appUrl }) => {
      const secret = await (rotate ? rotateHookSecret : hookSecret)(tx, "sms");
      const signers = await keepKeys(tx, SIGNING_GATEWAYS, keys);
      return { url: appUrl() + smsHookPath(secret), signed_by: [...signers.keys()] };
    },
  }),
};

async function keepKeys<Provider extends KeyedProvider | SigningGateway>(
  tx: Transaction,
  providers: readonly Provider[],
  given: { readonly [Each in Provider]?: string | undefined },
): Promise<ReadonlyMap<Provider, string>> {
  for (const provider of providers) {
    const own = given[provider];
    if (own !== undefined) await setHookKey(tx, provider, own);
  }
  return readProviderKeys(tx, providers);
}

/** What a report needs besides the URL's secret. `refused`: only another provider has a key. */
function requiredProof(source: HookSource, keys: ReadonlyMap<KeyedProvider, string>) {
  if (source === "ses") return "signature";
  if (source === "hook" || !keys.has(source)) return keys.size === 0 ? "secret" : "refused";
  return source === "postmark" ? "login" : "signature";
}
