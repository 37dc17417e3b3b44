/** The commands about what comes back of surveys, on an open store. */
import { clearBounce, type ClearedBounce, listSoftBounces, recordReports } from "../../domain/delivery/bounces.ts";
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
} from "../../domain/delivery/hook-secrets.ts";
import { REPORT_OUTCOMES, type ReportOutcome } from "../../domain/delivery/rows.ts";
import type { SoftBouncer, Store, Transaction } from "../../domain/ports.ts";
import type { BounceCommand, HookInfo, SoftBounceInfo } from "./commands.ts";
import type { AdminResults, Handlers } from "../commands.ts";
import { requireProject, writeInProject } from "../in-project.ts";

export interface BounceAdminOptions {
  readonly store: Store;
  /** The address that providers reach the service by, without a slash at the end. */
  readonly appUrl: () => string;
}

/** Secrets are the service's own: no project waits for them. */
const ONLY_SECRETS = { project: "none" } as const;

export function createBounceHandlers({ store, appUrl }: BounceAdminOptions): Pick<Handlers, BounceCommand["kind"]> {
  return {
    "bounce.address": async () => ({ bounce_address: await store.read((tx) => tx.reports.bounceAddress()) }),
    "bounce.receive": async ({ reports }) => countOutcomes(await store.write((tx) => recordReports(tx, reports))),
    "bounce.clear": async ({ project, email }) => {
      const { bouncedAt, evidence } = await writeInProject(store, project, (tx, found) =>
        clearBounce(tx, found, email),
      );
      return { email, bounced_at: bouncedAt, ...toEvidenceInfo(evidence) };
    },
    "bounce.list": ({ project, after = "0", limit }) =>
      store.read(async (tx) => {
        const page = { after: Number(after), limit: limit + 1 };
        const found = await listSoftBounces(tx, await requireProject(tx, project), page);
        const rows = found.slice(0, limit).map(toSoftBounceInfo);
        return { rows, next: found.length > limit ? (rows.at(-1)?.id ?? null) : null };
      }),
    "bounce.hook": ({ rotate, keys: given }) =>
      store.write(async (tx) => {
        const secret = await (rotate ? rotateHookSecret : hookSecret)(tx);
        const keys = await keepKeys(tx, KEYED_PROVIDERS, given);
        return HOOK_SOURCES.map((provider) => ({
          provider,
          url: appUrl() + hookPath(secret, provider),
          proof: proofOf(provider, keys),
        }));
      }, ONLY_SECRETS),
    "sms.hook": ({ rotate, keys }) =>
      store.write(async (tx) => {
        const secret = await (rotate ? rotateHookSecret : hookSecret)(tx, "sms");
        const signers = await keepKeys(tx, SIGNING_GATEWAYS, keys);
        return { url: appUrl() + smsHookPath(secret), signed_by: [...signers.keys()] };
      }, ONLY_SECRETS),
  };
}

function toEvidenceInfo(evidence: ClearedBounce["evidence"]) {
  return {
    reported_at: evidence?.at ?? null,
    stage: evidence?.stage ?? null,
    code: evidence?.code ?? null,
    enhanced_code: evidence?.enhancedCode ?? null,
    text: evidence?.text ?? null,
  };
}

/** All that are kept then. */
async function keepKeys<Provider extends KeyedProvider | SigningGateway>(
  tx: Transaction,
  providers: readonly Provider[],
  given: Partial<Readonly<Record<Provider, string>>>,
): Promise<ReadonlyMap<Provider, string>> {
  for (const provider of providers) {
    const key = given[provider];
    if (key !== undefined) await setHookKey(tx, provider, key);
  }
  return readProviderKeys(tx, providers);
}

function countOutcomes(outcomes: readonly ReportOutcome[]): AdminResults["bounce.receive"] {
  const counts = REPORT_OUTCOMES.map((name) => [name, outcomes.filter((outcome) => outcome === name).length]);
  return Object.fromEntries(counts) as AdminResults["bounce.receive"];
}

function proofOf(source: HookSource, keys: ReadonlyMap<KeyedProvider, string>): HookInfo["proof"] {
  if (source === "ses") return "signature";
  if (source === "hook" || !keys.has(source)) return keys.size === 0 ? "secret" : "refused";
  return source === "postmark" ? "login" : "signature";
}

function toSoftBounceInfo({ personId, email, count, lastAt, text }: SoftBouncer): SoftBounceInfo {
  return { id: String(personId), email, soft_bounces: count, last_at: lastAt, text };
}
