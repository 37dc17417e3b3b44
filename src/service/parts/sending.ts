import { createHeartbeat, type Heartbeat } from "../scheduler/heartbeat.ts";
import { createScheduler, type Scheduler } from "../scheduler/scheduler.ts";
import { logOverdue, logPaused } from "../service-log.ts";
import type { Base } from "./base.ts";
import type { Part } from "./part.ts";
import type { Senders } from "./senders.ts";

export interface Sending extends Part {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  /** See `Scheduler`. */
  readonly sweep: Scheduler["sweep"];
  readonly finish: Scheduler["finish"];
  readonly isLeader: Heartbeat["isLeader"];
}

export function createSending(base: Base, senders: Senders): Sending {
  const { store, clock, process: claimer, signals } = base;
  const { onUnknown = "hold" } = base.options;
  const heartbeat = createHeartbeat({ store, clock, claimer, onUnknown });
  const { start, stop, finish, sweep, wake } = openScheduler(base, senders, heartbeat);
  signals.due.answer(wake);
  return { start, stop, finish, sweep, isLeader: heartbeat.isLeader };
}

function openScheduler(base: Base, { all, replies, outbox }: Senders, heartbeat: Heartbeat): Scheduler {
  const { options, store, clock, log, process: claimer, deliveries, failures, metrics } = base;
  const { maxAgeSeconds = null, knowsOutbox, onUnknown = "hold" } = options;
  return createScheduler({
    store,
    clock,
    claimer,
    heartbeat,
    maxAgeSeconds,
    onUnknown,
    senders: replies === null ? all : [...all, replies],
    files: outbox,
    holdsAllFiles: knowsOutbox !== false,
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
