/** Sends weekly digests, one at a time: each is claimed, marked before its last byte, and recorded. */
import type { Clock } from "../../runtime/clock.ts";
import type { Random } from "../../runtime/random.ts";
import { createWakeLoop } from "../../runtime/wake-loop.ts";
import {
  claimDigest,
  type DueDigest,
  finishDigest,
  markDigest,
  mayStillSendDigest,
  nextDigestDue,
} from "../domain/delivery/digests.ts";
import {
  ClaimLostError,
  type DeliveryOutcome,
  type DeliveryProgress,
  type DeliveryResult,
} from "../domain/delivery/sender.ts";
import type { Store, Transaction } from "../domain/ports.ts";
import type { Heartbeat } from "./heartbeat.ts";

export interface DigestLoopOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Pick<Random, "fraction">;
  /** Names this process in claims. */
  readonly claimer: string;
  readonly heartbeat: Pick<Heartbeat, "beat">;
  /** Whether the sender takes a mail at present; it has the loop woken when that changes. */
  readonly hasRoom: () => boolean;
  /** Renders and carries one out. */
  readonly deliver: (due: DueDigest, progress: DeliveryProgress) => Promise<DeliveryResult>;
  readonly onError: (error: unknown) => void;
}

export interface DigestLoop {
  readonly start: () => void;
  readonly wake: () => void;
  /** Claims nothing more, and lets the mail in hand end, within bounds. */
  readonly stop: () => Promise<void>;
  /** Has all sent that is due now. */
  readonly finish: () => Promise<void>;
}

/** How long the mail in hand may take when the service ends; with a mark it is `unknown` then. */
const DRAIN_MS = 30_000;
const AFTER_ERROR_SECONDS = 60;
/** Digests that another process was asked for are found after this long. */
const SHARED_REST_SECONDS = 60;

export function createDigestLoop(options: DigestLoopOptions): DigestLoop {
  const { store, clock, claimer, heartbeat, onError } = options;
  const leave = new AbortController();
  const state: { ended: EndedDigest | null } = { ended: null };
  /** Once more after a write that failed, and before anything else is claimed. */
  const record = async (): Promise<void> => {
    const { ended } = state;
    if (ended === null) return;
    const { due, outcome, text } = ended;
    const write = (tx: Transaction): Promise<void> =>
      finishDigest(tx, due, outcome, { text, fraction: options.random.fraction() });
    await store.write(write, { project: due.project.id });
    state.ended = null;
  };
  const runDue = async (goesOn: () => boolean): Promise<number | null> => {
    await heartbeat.beat();
    for (;;) {
      await record();
      const { next, now } = await store.read(async (tx) => ({ next: await nextDigestDue(tx), now: tx.now }));
      if (next === null || next.at > now)
        return store.isShared ? Math.min(next?.at ?? Infinity, now + SHARED_REST_SECONDS) : (next?.at ?? null);
      if (!goesOn() || !options.hasRoom()) return null;
      const { project } = next;
      const due = await store.write((tx) => claimDigest(tx, claimer, project), { project });
      if (due !== null) state.ended = await send(options, due, leave.signal);
    }
  };
  const loop = createWakeLoop(clock, () => runDue(() => !loop.stopping.aborted), onError);
  return {
    start: loop.start,
    wake: loop.wake,
    stop: async () => {
      const done = new AbortController();
      const cut = async (): Promise<void> => {
        await clock.sleep(DRAIN_MS, done.signal);
        leave.abort();
      };
      const cutting = cut().catch(() => undefined);
      await Promise.race([loop.stop(), cutting]);
      done.abort();
    },
    finish: async () => {
      await loop.stop();
      await runDue(() => true);
    },
  };
}

interface EndedDigest {
  readonly due: DueDigest;
  readonly outcome: DeliveryOutcome;
  readonly text: string | null;
}

async function send(options: DigestLoopOptions, due: DueDigest, signal: AbortSignal): Promise<EndedDigest> {
  const { store, onError } = options;
  const state: { withdrawn: DeliveryOutcome | null; isMarked: boolean } = { withdrawn: null, isMarked: false };
  const progress: DeliveryProgress = {
    mayStillSend: async () => {
      state.withdrawn = await store.read((tx) => mayStillSendDigest(tx, due));
      return state.withdrawn === null;
    },
    transmitting: async () => {
      state.isMarked = true;
      if (await store.write((tx) => markDigest(tx, due), { project: due.project.id })) return;
      state.isMarked = false;
      throw new ClaimLostError("the claim was lost");
    },
    signal,
  };
  const result = await options.deliver(due, progress).catch((error: unknown): DeliveryResult => {
    if (!(error instanceof ClaimLostError)) onError(error);
    // Without a mark nothing can have gone.
    return state.isMarked ? { kind: "unknown" } : { kind: "released", delaySeconds: AFTER_ERROR_SECONDS };
  });
  return { due, outcome: state.withdrawn ?? result, text: result.attempt?.text ?? null };
}
