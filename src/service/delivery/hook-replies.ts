import type { HttpResponse } from "../../contract/http.ts";
import type { HookSource } from "../domain/delivery/hook-secrets.ts";
import type { ReportOutcome } from "../domain/ports.ts";
import type { TextOutcome } from "../domain/sms/receive-text.ts";

export type HookRefusal = "secret" | "signature" | "body";

export interface HookMetrics {
  countReport(source: HookSource, outcome: ReportOutcome): void;
  countText(outcome: TextOutcome): void;
  countRefusal(why: HookRefusal): void;
}

export const SIGNATURE_SECONDS = 300;

/** `timestamp` is Unix seconds. */
export function isFresh(timestamp: string, now: number): boolean {
  return /^\d+$/.test(timestamp) && Math.abs(now - Number(timestamp)) <= SIGNATURE_SECONDS;
}

export const HOOK_HEADERS = { "content-type": "application/json; charset=utf-8" };

export function hookError(status: number, message: string): HttpResponse {
  return { status, headers: HOOK_HEADERS, body: JSON.stringify({ status, message }) };
}
