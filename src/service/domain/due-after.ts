import type { Transaction } from "./ports.ts";

/** The first whole Unix second after which `seconds` have fully passed. */
export function dueAfter({ nowMs }: Pick<Transaction, "nowMs">, seconds: number): number {
  return Math.ceil(nowMs / 1000) + seconds;
}
