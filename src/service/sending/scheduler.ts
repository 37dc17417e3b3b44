import { type Clock, unixSeconds } from "../../runtime/clock.ts";
import { groupByProject, allOrFirstError } from "../domain/by-project.ts";
import { claimDue, findDue, type OnUnknown } from "../domain/delivery/deliveries.ts";
import { LIFE_SECONDS } from "../domain/delivery/living.ts";
import { guardOverdue, holdOverdue, isOverdueInBulk, type Pause, readPause } from "../domain/delivery/oversight.ts";
import type { DeliveryResult, MessageFiles, MessageSender } from "../domain/delivery/sender.ts";
import { Turns } from "../domain/delivery/turns.ts";
import type { Claim, DueMessage, DueProjects, Store, Transaction } from "../domain/ports.ts";
import { createWakeLoop, type WakeLoop } from "../../runtime/wake-loop.ts";
import { type EndedDelivery, finishAll, InFlight } from "./in-flight.ts";
import { ERASE_BATCH, MessageSweep } from "./message-sweep.ts";
import type { Heartbeat } from "./heartbeat.ts";

export interface SchedulerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly claimer: string;
  readonly heartbeat: Pick<Heartbeat, "beat" | "isLeader" | "end">;
  readonly senders: readonly MessageSender[];
  readonly files?: MessageFiles;
  /** False in commands, whose server may use another outbox and reports pauses itself. Defaults to true. */
  readonly knowsOutbox?: boolean;
  /** Messages older than this are dropped; null for no limit. */
  readonly maxAgeSeconds: number | null;
  readonly onUnknown: OnUnknown;
  readonly onOutcome: (due: DueMessage, result: DeliveryResult, seconds: number) => void;
  readonly onTurn?: () => void;
  readonly onOverdue?: (held: number) => void;
  readonly onPaused?: (pause: Pause) => void;
  readonly onError: (error: unknown) => void;
}

/** Renewed while a message is in flight, so a lease ends only if the process hangs or dies. */
const LEASE_SECONDS = LIFE_SECONDS;
const RENEWED_SECONDS = LEASE_SECONDS / 3;
/** While other messages are in flight, ended ones wait this long to be recorded together. */
const RECORD_WAIT_MS = 5;
const LOOK_WAIT_MS = 100;
/** Messages held per write; small, so that API writes don't wait long. */
const HOLD_BATCH = 100;

export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #inFlight: InFlight;
  readonly #sweep: MessageSweep;
  readonly #turns = new Turns();
  readonly #loop: WakeLoop;
  #hasBegun = false;
  #isWoken = false;
  /** How far the store's clock, which decides what is due, is ahead of ours. */
  #aheadSeconds = 0;
  #renewed = { steadyMs: 0, wallMs: 0 };
  /** No message is due before this time (Unix seconds, store's clock); 0 means unknown, because a sender was full. */
  #quietUntil = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#loop = createWakeLoop(options.clock, () => this.#runDue(() => !this.#loop.stopping.aborted), options.onError);
    this.#inFlight = new InFlight({ ...options, onEnd: () => this.#loop.wake() });
    this.#sweep = new MessageSweep(options, (survey) => this.#inFlight.has(survey));
  }

  start(): void {
    this.#loop.start();
  }

  /** Call this when a message may be due, now or at `dueAt` (Unix seconds), or when a sender has room again. Cheap. */
  wake(dueAt = 0): void {
    const { store, clock } = this.#options;
    if (this.#isWoken || dueAt - this.#aheadSeconds > unixSeconds(clock) + store.pollSeconds) return;
    this.#isWoken = true;
    const wakeNow = (): void => {
      this.#isWoken = false;
      this.#loop.wake();
    };
    void clock.sleep(LOOK_WAIT_MS, this.#loop.stopping).then(wakeNow, () => undefined);
  }

  /**
   * Removes the files of erased surveys, waiting up to 30 seconds for messages in flight. Null if only the server can
   * find some of the files.
   */
  sweep(): Promise<number | null> {
    return this.#sweep.run();
  }

  isLeader(): boolean {
    return this.#options.heartbeat.isLeader();
  }

  /** After 30 seconds, unmarked transmissions are put back; 10 seconds later, marked ones become unknown. */
  async stop(): Promise<void> {
    const { heartbeat, onError } = this.#options;
    await this.#loop.stop();
    await this.#inFlight.drain(async () => void (await this.#recordAndClaim([]).catch(onError)));
    await heartbeat.end().catch(onError);
  }

  /** Ends the loop once nothing is due. Returns when the next message is due, in Unix seconds or Infinity. */
  async finish(): Promise<number> {
    await this.#loop.stop();
    do {
      await this.#inFlight.nextEnd();
      await this.#runDue(() => true);
    } while (this.#inFlight.size > 0);
    return this.#quietUntil;
  }

  /** Returns when to look again, in Unix seconds. Reads before claiming, because reading is cheaper. */
  async #runDue(mayClaim: () => boolean): Promise<number> {
    const { store, clock, heartbeat, senders, onTurn } = this.#options;
    for (;;) {
      await heartbeat.beat();
      if (!this.#hasBegun) await this.#begin();
      this.#hasBegun = true;
      await this.#renew();
      const startedAt = unixSeconds(clock);
      // While nothing is due, records finished deliveries now; otherwise they share a transaction with the next claims.
      const isQuiet = startedAt + this.#aheadSeconds < this.#quietUntil;
      if (isQuiet && (await this.#recordAndClaim([])).isMore) continue;
      const open = senders.filter((sender) => roomFor(sender, this.#inFlight) > 0);
      const channels = open.flatMap((sender) => sender.channels);
      const { dueAt, now, due, erased } = await store.read(async (tx) => ({
        ...(await findDue(tx, channels)),
        erased: await tx.queue.listErased(ERASE_BATCH),
        now: tx.now,
      }));
      this.#aheadSeconds = now - startedAt;
      if (this.#inFlight.size === 0) this.#renewed = readClocks(clock);
      const plans = mayClaim() ? plan(this.#options, this.#inFlight, this.#turns, due) : [];
      const { claimed, isMore } = await this.#recordAndClaim(plans);
      if (isMore) continue;
      // Everything due has been claimed, so nothing else is due before the next second.
      const nextAt = claimed > 0 ? now + 1 : (dueAt ?? Infinity);
      this.#quietUntil = open.length < senders.length ? 0 : nextAt;
      await this.#sweep.eraseSome(erased);
      onTurn?.();
      const restSeconds = this.#inFlight.size > 0 ? Math.min(RENEWED_SECONDS, store.pollSeconds) : store.pollSeconds;
      return Math.min(nextAt, now + restSeconds) - this.#aheadSeconds;
    }
  }

  async #begin(): Promise<void> {
    const { store, knowsOutbox, onPaused, onOverdue } = this.#options;
    if (knowsOutbox !== false) await store.write(guardOverdue, { project: "none" });
    const pause = await store.read(readPause);
    if (pause !== null) onPaused?.(pause);
    const held = await holdAllOverdue(this.#options);
    if (held > 0) onOverdue?.(held);
  }

  async #renew(): Promise<void> {
    const { store, clock } = this.#options;
    const now = readClocks(clock);
    const waitMs = RENEWED_SECONDS * 1000;
    const isFresh = now.steadyMs - this.#renewed.steadyMs < waitMs && now.wallMs - this.#renewed.wallMs < waitMs;
    if (this.#inFlight.size === 0 || isFresh) return;
    const held = groupByProject(this.#inFlight.unmarked(), (due) => due.project.id);
    const renewAll = [...held].map(([project, some]) =>
      store.write((tx) => tx.queue.renewClaims(some, tx.now + LEASE_SECONDS), { project }),
    );
    await allOrFirstError(renewAll);
    this.#renewed = now;
  }

  /**
   * Records finished deliveries in the same transaction as their project's next claims. If that fails, the next call
   * records them.
   */
  async #recordAndClaim(plans: readonly Plan[]): Promise<Turn> {
    const ended = groupByProject(this.#inFlight.ended(), ({ due }) => due.project.id);
    const planned = groupByProject(plans, ({ claim }) => claim.project);
    // Waits briefly while messages are in flight: if one is marked, the same write records the finished deliveries.
    const mayWaitMs = this.#inFlight.isBusy() ? RECORD_WAIT_MS : 0;
    const work = async (project: number): Promise<Turn> => {
      const done = ended.get(project) ?? [];
      const { claimed, isFull } = await this.#options.store.write(
        (tx) => recordThenClaim(tx, done, planned.get(project) ?? [], this.#options.onUnknown),
        { project, mayWaitMs },
      );
      this.#inFlight.forget(done);
      for (const { due, result, seconds } of done) this.#options.onOutcome(due, result, seconds);
      for (const { sender, due } of claimed) this.#inFlight.take(sender, due);
      return { claimed: claimed.length, isMore: isFull || done.length > 0 };
    };
    const turns = await allOrFirstError([...new Set([...ended.keys(), ...planned.keys()])].map(work));
    return {
      claimed: turns.reduce((sum, { claimed }) => sum + claimed, 0),
      isMore: turns.some(({ isMore }) => isMore),
    };
  }
}

interface Turn {
  readonly claimed: number;
  readonly isMore: boolean;
}

/** Leases follow the wall clock, which may jump. */
function readClocks(clock: Clock): { readonly steadyMs: number; readonly wallMs: number } {
  return { steadyMs: clock.monotonic(), wallMs: clock.now() };
}

/**
 * Holds overdue messages in bulk; otherwise a restored data file would send or drop them before anyone has checked
 * them.
 */
async function holdAllOverdue({ store, maxAgeSeconds }: SchedulerOptions): Promise<number> {
  if (maxAgeSeconds === null || !(await store.read(isOverdueInBulk))) return 0;
  for (let held = 0; ;) {
    const step = await store.write((tx) => holdOverdue(tx, { maxAgeSeconds, limit: HOLD_BATCH }), { project: "all" });
    held += step;
    if (step < HOLD_BATCH) return held;
  }
}

/** Finished messages don't occupy room, because they are recorded before the next claim. */
function roomFor(sender: MessageSender, inFlight: InFlight): number {
  return sender.capacity(RENEWED_SECONDS) - inFlight.busy(sender);
}

interface Plan {
  readonly sender: MessageSender;
  readonly claim: Omit<Claim, "limit">;
  readonly limit: () => number;
}

function plan({ senders, claimer }: SchedulerOptions, inFlight: InFlight, turns: Turns, due: DueProjects): Plan[] {
  return senders.flatMap((sender) => {
    const channels = sender.channels.filter((channel) => due.get(channel)?.length);
    const toPlan = (channel: Claim["channel"], project: number, limit: () => number): Plan => {
      return { sender, claim: { channel, project, claimer, leaseSeconds: LEASE_SECONDS }, limit };
    };
    const [only, ...others] = channels.flatMap((channel) =>
      (due.get(channel) ?? []).map((project) => ({ channel, project })),
    );
    // If only one queue has due messages, it gets all the room that is left when they are claimed.
    if (only !== undefined && others.length === 0)
      return [toPlan(only.channel, only.project, () => roomFor(sender, inFlight))];
    let room = roomFor(sender, inFlight);
    return channels.flatMap((channel, index) => {
      const share = Math.ceil(room / (channels.length - index));
      room -= share;
      const shares = turns.share(channel, due.get(channel) ?? [], share);
      return shares.map(({ project, limit }) => toPlan(channel, project, () => limit));
    });
  });
}

interface Claimed {
  readonly sender: MessageSender;
  readonly due: DueMessage;
}

async function recordThenClaim(
  tx: Transaction,
  ended: readonly EndedDelivery[],
  plans: readonly Plan[],
  onUnknown: OnUnknown,
): Promise<{ readonly claimed: readonly Claimed[]; readonly isFull: boolean }> {
  await finishAll(tx, ended, onUnknown);
  const claimed: Claimed[] = [];
  let isFull = false;
  const channels = plans.map(({ claim }) => claim.channel);
  for (const { sender, claim, limit } of plans) {
    const room = limit();
    if (room <= 0) continue;
    const due = await claimDue(tx, { ...claim, limit: room }, channels);
    claimed.push(...due.messages.map((message) => ({ sender, due: message })));
    isFull ||= due.isFull;
  }
  return { claimed, isFull };
}
