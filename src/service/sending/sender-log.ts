import type { Log, LogFields } from "../../runtime/log.ts";
import { releaseAll } from "../domain/delivery/oversight.ts";
import type { Store, Transaction } from "../domain/ports.ts";
import { needsAnswer, type SenderHealth } from "./pacing/sender-health.ts";

interface LoggedSender {
  readonly name: "mail" | "sms";
  readonly place: LogFields;
  readonly mask: (said: string) => string;
}

interface HealthFollower {
  readonly store: Store;
  readonly log: Log;
  readonly wake: () => void;
  readonly onError: (error: unknown) => void;
}

export function followHealth(
  { store, log, wake, onError }: HealthFollower,
  sender: LoggedSender,
): (health: SenderHealth, isHealed: boolean) => void {
  return (health, isHealed) => {
    logHealth(log, sender, health);
    if (isHealed) void releaseAll(store, releaseSome).then(wake, onError);
  };
}

function logHealth(log: Log, { name, place, mask }: LoggedSender, health: SenderHealth): void {
  if (health.mode === "open") return log.info(`${name}_resumed`, place);
  if (health.mode === "probing") return;
  const { until, trouble } = health;
  const { said } = trouble;
  const next = until === null ? null : new Date(until).toISOString();
  const reply = { stage: said?.stage ?? null, code: said?.code ?? null, enhanced_code: said?.enhancedCode ?? null };
  const facts = { ...place, ...reply, reason: mask(trouble.reason), next_try: next, needs_resume: needsAnswer(health) };
  log.warn(`${name}_${health.mode === "stopped" ? "stopped" : "backing_off"}`, facts);
}

export type WarnOnce = (subject: string, event: string, fields: LogFields) => void;

export function createWarnOnce(log: Log): WarnOnce {
  const warned = new Set<string>();
  return (subject, event, fields) => {
    if (warned.has(subject)) return;
    warned.add(subject);
    log.warn(event, fields);
  };
}

/** Matches addresses or numbers against a pattern, ignoring case. */
export function allowing(pattern: string | null): (address: string) => boolean {
  if (pattern === null) return () => true;
  const parts = pattern.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  const form = new RegExp(`^${parts.join(".*")}$`, "i");
  return (address) => form.test(address);
}

const releaseSome = (tx: Transaction, limit: number): Promise<number> =>
  tx.deliveries.releaseHeld(limit, { isOperator: false });
