/** Sends what is texted back to people: soon, once, or not at all. */
import { unixSeconds, type Clock } from "../../../runtime/clock.ts";
import { createWakeLoop, type WakeLoop } from "../../../runtime/wake-loop.ts";
import type { DueReply, Store, Transaction } from "../../domain/ports.ts";
import { localDay, noteSegments } from "../../domain/sms/day.ts";
import type { GatewayTransport } from "./gateway-transport.ts";
import { toSmsText } from "./segments.ts";
import { isAllowedCountry, type SegmentBudget, type SmsLimits } from "./sms-sender.ts";

export interface ReplyLoopOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly transport: GatewayTransport;
  readonly limits: SmsLimits;
  readonly budget: SegmentBudget;
  readonly zoneOf: (project: DueReply["project"]) => Promise<string | null>;
  readonly compose: (reply: DueReply) => Promise<string>;
  /** `segments` is 0 for what did not go out. */
  readonly onEnd: (outcome: string, segments: number) => void;
  readonly onError: (error: unknown) => void;
}

export interface ReplyLoop extends Pick<WakeLoop, "start" | "wake"> {
  /** Begins no more; those on their way have ten seconds to end. */
  readonly stop: () => Promise<void>;
}

const AT_ONCE = 8;
/** A reply that comes later is no reply. */
const AGE_MAX_SECONDS = 900;
const RETRY_SECONDS = [20, 120, 300] as const;
const STOP_MS = 10_000;

/**
 * A reply is marked before it leaves, and what was marked when the process ended is not sent again: the person may have
 * it. One that the gateway refuses for now is tried again for a quarter of an hour.
 */
export function createReplyLoop(options: ReplyLoopOptions): ReplyLoop {
  const { store, clock, onError } = options;
  const state = { hasBegun: false };
  const run = async (): Promise<number | null> => {
    if (!state.hasBegun) await store.write((tx) => tx.texts.loseReplies());
    state.hasBegun = true;
    for (;;) {
      const next = await store.read((tx) => tx.texts.nextReply());
      if (next === null || next.at > unixSeconds(clock) || loop.stopping.aborted) return next?.at ?? null;
      const { project } = next;
      const replies = await store.write((tx) => tx.texts.claimReplies(project, AT_ONCE), { project });
      await Promise.all(replies.map((reply) => sendReply(options, reply).catch(onError)));
    }
  };
  const loop: WakeLoop = createWakeLoop(clock, run, onError);
  return {
    start: loop.start,
    wake: loop.wake,
    stop: async () => {
      const done = new AbortController();
      const over = clock.sleep(STOP_MS, done.signal).catch(() => undefined);
      await Promise.race([loop.stop(), over]);
      done.abort();
    },
  };
}

async function sendReply(options: ReplyLoopOptions, reply: DueReply): Promise<void> {
  const { store, clock, onEnd } = options;
  const { outcome, segments, isTransient } = await attempt(options, reply);
  const now = unixSeconds(clock);
  const dueAt = now + (RETRY_SECONDS[reply.attempts] ?? AGE_MAX_SECONDS);
  const isRetried = isTransient && dueAt - reply.createdAt <= AGE_MAX_SECONDS;
  const record = async (tx: Transaction): Promise<void> => {
    await tx.texts.settleReply(reply, { outcome, dueAt: isRetried ? dueAt : null });
    if (segments > 0) await noteSegments(tx, reply.project, segments);
  };
  await store.write(record, { project: reply.project.id });
  onEnd(isRetried ? "retry" : outcome, segments);
}

interface Ended {
  readonly outcome: string;
  readonly segments: number;
  readonly isTransient: boolean;
}

const DROPPED: Ended = { outcome: "dropped", segments: 0, isTransient: false };

async function attempt(options: ReplyLoopOptions, reply: DueReply): Promise<Ended> {
  const { clock, transport, limits, budget, zoneOf, compose } = options;
  const { phoneNumber, project, kind, key, createdAt } = reply;
  const now = unixSeconds(clock);
  if (phoneNumber === null || now - createdAt > AGE_MAX_SECONDS) return DROPPED;
  if (!limits.mayReceive(phoneNumber) || !isAllowedCountry(limits, phoneNumber)) return DROPPED;
  const { text, segments } = toSmsText(await compose(reply));
  const day = localDay(now, await zoneOf(project)).name;
  // A reply that confirms STOP is sent whatever it costs.
  const isTaken = await budget.take(project, day, segments);
  if (!isTaken && kind !== "stopped") return DROPPED;
  const progress = { mayStillSend: async () => true, transmitting: async () => undefined };
  const result = await transport.send({ to: phoneNumber, text, id: key }, progress);
  if (result.kind === "withdrawn") return DROPPED;
  const { outcome } = result.reply.meaning;
  if (outcome === "sent" || outcome === "unknown") return { outcome, segments, isTransient: false };
  if (isTaken) budget.giveBack(project, day, segments);
  return { outcome: "failed", segments: 0, isTransient: outcome === "retry" };
}
