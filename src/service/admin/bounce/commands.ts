/** The commands of `service bounce` and `service sms`, and their answers. */
import type { Report } from "../../domain/delivery/bounces.ts";
import { type HookSource, type KeyedProvider, type SigningGateway } from "../../domain/delivery/hook-secrets.ts";
import type { ReportOutcome } from "../../domain/delivery/rows.ts";

export type BounceCommand =
  /** The bounce address that the last server was started with. */
  | { readonly kind: "bounce.address" }
  /** Reports that were read already; all of them are recorded, or none. */
  | { readonly kind: "bounce.receive"; readonly reports: readonly Report[] }
  | { readonly kind: "bounce.clear"; readonly project: string; readonly email: string }
  /** One page of soft bounces, by person. `after` is the `next` of the page before. */
  | { readonly kind: "bounce.list"; readonly project: string; readonly after?: string; readonly limit: number }
  /** An empty key takes one back. */
  | {
      readonly kind: "bounce.hook";
      readonly rotate: boolean;
      readonly keys: { readonly [Provider in KeyedProvider]?: string };
    }
  | {
      readonly kind: "sms.hook";
      readonly rotate: boolean;
      readonly keys: { readonly [Gateway in SigningGateway]?: string };
    };

interface ClearedInfo {
  readonly email: string;
  readonly bounced_at: number;
  /** The words of the reply, and their time; null where they were not kept. */
  readonly reported_at: number | null;
  readonly stage: string | null;
  readonly code: number | null;
  readonly enhanced_code: string | null;
  readonly text: string | null;
}

export interface SoftBounceInfo {
  readonly id: string;
  readonly email: string | null;
  /** Of the last five surveys. */
  readonly soft_bounces: number;
  readonly last_at: number;
  readonly text: string | null;
}

export interface HookInfo {
  /** `hook` takes our own form. */
  readonly provider: HookSource;
  readonly url: string;
  /**
   * The proof that a report needs: the URL's secret alone, or a login or signature besides. `refused`: nothing does,
   * since another provider's key is kept.
   */
  readonly proof: "secret" | "login" | "signature" | "refused";
}

interface SmsHookInfo {
  readonly url: string;
  /** Providers whose signature is demanded; without any the URL's secret is the only proof. */
  readonly signed_by: readonly SigningGateway[];
}

export interface BounceResults {
  /** With `{token}` in it where each survey has its own; null where surveys come back to their sender. */
  "bounce.address": { readonly bounce_address: string | null };
  "bounce.receive": Readonly<Record<ReportOutcome, number>>;
  "bounce.clear": ClearedInfo;
  "bounce.list": { readonly rows: readonly SoftBounceInfo[]; readonly next: string | null };
  "bounce.hook": readonly HookInfo[];
  "sms.hook": SmsHookInfo;
}
