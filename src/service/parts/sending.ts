/** The sending of what is due. */
import { createDigestLoop, type DigestLoop } from "../scheduler/digests.ts";
import { createHeartbeat, type Heartbeat } from "../scheduler/heartbeat.ts";
import { createScheduler, type Scheduler } from "../scheduler/scheduler.ts";
import { logOverdue, logPaused } from "../service-log.ts";
import type { Base } from "./base.ts";
import { LAZY } from "./lazy.ts";
import type { Part } from "./part.ts";
import type { Senders } from "./senders.ts";
import { holdsMessages } from "./sweep.ts";

export interface Sending extends Part {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  /** See `Scheduler`. */
  readonly sweep: Scheduler["sweep"];
  /** Ends once nothing is due any more. */
  readonly finish: () => Promise<void>;
  readonly isLeader: Heartbeat["isLeader"];
}

export function createSending(base: Base, senders: Senders): Sending {
  const { store, clock, process: claimer, signals } = base;
  const { onUnknown = "hold" } = base.options;
  const heartbeat = createHeartbeat({ store, clock, claimer, onUnknown });
  const scheduler = openScheduler(base, senders, heartbeat);
  const digests = openDigests(base, senders, heartbeat);
  const replies = senders.sms === null ? [] : [senders.sms.replies];
  const loops = [scheduler, digests, ...replies];
  for (const loop of loops) signals.due.answer(loop.wake);
  signals.scheduled.answer(scheduler.wake);
  return {
    sweep: scheduler.sweep,
    finish: async () => {
      for (const loop of [scheduler, digests]) await loop.finish();
    },
    isLeader: heartbeat.isLeader,
    start: () => {
      for (const loop of loops) loop.start();
    },
    stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))),
  };
}

function openScheduler(base: Base, senders: Senders, heartbeat: Heartbeat): Scheduler {
  const { options, store, clock, log, process: claimer, deliveries, failures, metrics } = base;
  const { maxAgeSeconds = null, knowsOutbox, onUnknown = "hold" } = options;
  return createScheduler({
    store,
    clock,
    claimer,
    heartbeat,
    maxAgeSeconds,
    onUnknown,
    senders: senders.all,
    holdsMessages: () => holdsMessages(base),
    guardsOverdue: knowsOutbox !== false,
    onOutcome: (due, result, seconds) => {
      if (result.kind === "sent") failures.end();
      deliveries.count(due, result, seconds);
    },
    onTurn: metrics.countTurn,
    onOverdue: (held) => logOverdue(log, held, maxAgeSeconds ?? 0),
    onPaused: (pause) => logPaused(log, pause),
    onError: failures.add,
  });
}

function openDigests(base: Base, { mail, outbox }: Senders, heartbeat: Heartbeat): DigestLoop {
  const { options, store, clock, random, process: claimer, contextOf, failures } = base;
  return createDigestLoop({
    store,
    clock,
    random,
    claimer,
    heartbeat,
    hasRoom: () => (mail ?? outbox).capacity(1) > 0,
    deliver: async (due, progress) => {
      const sending = { store, mail, outbox, context: await contextOf(due.project), key: options.mail?.dkim ?? null };
      return (await LAZY.digest()).deliverDigest(sending, due, progress);
    },
    onError: failures.add,
  });
}
