import type { Transaction } from "./ports.ts";

/** The first whole second, in Unix seconds, by which `seconds` have passed: never sooner than was asked for. */
export function dueAfter({ nowMs }: Pick<Transaction, "nowMs">, seconds: number): number {
  return Math.ceil(nowMs / 1000) + seconds;
}
