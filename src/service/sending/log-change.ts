import type { Log, LogFields } from "../../runtime/log.ts";
import { needsAnswer, type SenderHealth } from "./pacing/sender-health.ts";

/** Matches addresses or numbers against a pattern, ignoring case. */
export function allowing(pattern: string | null): (address: string) => boolean {
  if (pattern === null) return () => true;
  const parts = pattern.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  const form = new RegExp(`^${parts.join(".*")}$`, "i");
  return (address) => form.test(address);
}

export interface LoggedSender {
  readonly name: "mail" | "sms";
  readonly place: LogFields;
  /** Masks addresses and numbers in replies. */
  readonly mask: (said: string) => string;
}

/** Probes aren't logged. */
export function logSenderChange(log: Log, { name, place, mask }: LoggedSender, health: SenderHealth): void {
  if (health.mode === "open") return log.info(`${name}_resumed`, place);
  if (health.mode === "probing") return;
  const { until, trouble } = health;
  const { said } = trouble;
  const next = until === null ? null : new Date(until).toISOString();
  const reply = { stage: said?.stage ?? null, code: said?.code ?? null, enhanced_code: said?.enhancedCode ?? null };
  const facts = { ...place, ...reply, reason: mask(trouble.reason), next_try: next, needs_resume: needsAnswer(health) };
  log.warn(`${name}_${health.mode === "stopped" ? "stopped" : "backing_off"}`, facts);
}
