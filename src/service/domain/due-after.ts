import type { Transaction } from "./ports.ts";

/** The first whole second, in Unix seconds, by which `seconds` have passed: never sooner than was asked for. */
export function dueAfter({ now, nowMs }: Pick<Transaction, "now" | "nowMs">, seconds: number): number {
  return Math.max(now, Math.ceil(nowMs / 1000)) + seconds;
}
