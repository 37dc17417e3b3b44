/** Claims what is due, has it delivered, records how each delivery ended, and sleeps until the next is due. */
import { type Clock, unixSeconds } from "../../runtime/clock.ts";
import { groupByProject, allOrFirstError } from "../domain/by-project.ts";
import { claimDue, findDue, type OnUnknown } from "../domain/delivery/deliveries.ts";
import { LIFE_SECONDS } from "../domain/delivery/living.ts";
import { guardOverdue, holdOverdue, isOverdueInBulk, type Pause, readPause } from "../domain/delivery/oversight.ts";
import type { DeliveryResult, MessageFiles, MessageSender } from "../domain/delivery/sender.ts";
import { createTurns, type Turns } from "../domain/delivery/turns.ts";
import type { Claim, DueMessage, DueProjects, Store, Transaction } from "../domain/ports.ts";
import { createWakeLoop, type WakeLoop } from "../../runtime/wake-loop.ts";
import { type EndedDelivery, finishAll, InFlight } from "./in-flight.ts";
import { ERASE_BATCH, MessageSweep } from "./message-sweep.ts";
import type { Heartbeat } from "./heartbeat.ts";

export interface SchedulerOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Names this scheduler in claims. */
  readonly claimer: string;
  readonly heartbeat: Heartbeat;
  /** At most one for each channel. */
  readonly senders: readonly MessageSender[];
  /** Absent: no message becomes a file. */
  readonly files?: MessageFiles;
  /** False where a server may keep them in another place. Absent: true. */
  readonly holdsAllFiles?: boolean;
  /** Messages that were scheduled longer ago are given up; null for no limit. */
  readonly maxAgeSeconds: number | null;
  readonly onUnknown: OnUnknown;
  /** False for a command, which could not say that all is paused. Absent: true. */
  readonly guardsOverdue?: boolean;
  /** Called with each outcome once it is recorded, and how long it took from the claim. */
  readonly onOutcome: (due: DueMessage, result: DeliveryResult, seconds: number) => void;
  /** Called whenever it has looked for due surveys without an error. */
  readonly onTurn?: () => void;
  /** Called once, before the first claim, with how many messages are held because they were overdue in bulk. */
  readonly onOverdue?: (held: number) => void;
  /** Called once, before the first claim, when nothing is sent. */
  readonly onPaused?: (pause: Pause) => void;
  readonly onError: (error: unknown) => void;
}

/** Renewed while a message is in flight, so it only ends for a process that hangs or has died. */
const LEASE_SECONDS = LIFE_SECONDS;
const RENEWED_SECONDS = LEASE_SECONDS / 3;
/** Ended deliveries are recorded together, while other messages are on their way. */
const RECORD_WAIT_MS = 5;
/** Surveys that are scheduled within this time are looked for together. */
const LOOK_WAIT_MS = 100;
/** Few, so that the API's own writes wait briefly. */
const HOLD_BATCH = 100;

/** Does nothing until `start` or `finish`. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #inFlight: InFlight;
  readonly #sweep: MessageSweep;
  readonly #turns = createTurns();
  readonly #loop: WakeLoop;
  #hasBegun = false;
  #isWoken = false;
  /** The store's time, by which surveys are due, less the clock's. */
  #aheadSeconds = 0;
  #renewed = { steadyMs: 0, wallMs: 0 };
  /** The store's time until which nothing is due, by the last look; 0 if a sender had no room. */
  #quietUntil = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#loop = createWakeLoop(options.clock, () => this.#runDue(() => !this.#loop.stopping.aborted), options.onError);
    this.#inFlight = new InFlight({ ...options, onEnd: () => this.#loop.wake() });
    this.#sweep = new MessageSweep(options, (survey) => this.#inFlight.has(survey));
  }

  /** A second call changes nothing. */
  start(): void {
    this.#loop.start();
  }

  /**
   * Something may be due, now or at `dueAt` (Unix seconds), or a sender has room again. Cheap: surveys may come in by
   * the thousand, and looking is expensive if the data is elsewhere.
   */
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
   * Removes messages whose person is gone, or which were cancelled, and returns how many. Waits for those in flight,
   * for 30 seconds at most. Null if some may be where this process doesn't look: the next server removes them.
   */
  sweep(): Promise<number | null> {
    return this.#sweep.run();
  }

  /** See `Heartbeat`. */
  isLeader(): boolean {
    return this.#options.heartbeat.isLeader();
  }

  /**
   * Claims nothing more, puts back what has not begun, and lets transmissions end: after 30 seconds those without a
   * mark are put back, 10 seconds later those with one are unknown.
   */
  async stop(): Promise<void> {
    const { heartbeat, onError } = this.#options;
    await this.#loop.stop();
    await this.#inFlight.drain(async () => void (await this.#recordAndClaim([]).catch(onError)));
    await heartbeat.end().catch(onError);
  }

  /** Ends the loop once nothing is due any more. When something is due next, Unix seconds; Infinity for never. */
  async finish(): Promise<number> {
    await this.#loop.stop();
    do {
      await this.#inFlight.nextEnd();
      await this.#runDue(() => true);
    } while (this.#inFlight.size > 0);
    return this.#quietUntil;
  }

  /**
   * Has all delivered that is due and that senders have room for; when it looks again, Unix seconds of the clock.
   * Looking is cheaper than claiming, so it comes first.
   */
  async #runDue(mayClaim: () => boolean): Promise<number> {
    const { store, clock, heartbeat, senders, onTurn } = this.#options;
    for (;;) {
      await heartbeat.beat();
      if (!this.#hasBegun) await this.#begin();
      this.#hasBegun = true;
      await this.#renew();
      const startedAt = unixSeconds(clock);
      // Where something may be due, what has ended is recorded together with the next claims.
      const isQuiet = startedAt + this.#aheadSeconds < this.#quietUntil;
      if (isQuiet && (await this.#recordAndClaim([])).isMore) continue;
      const open = senders.filter((sender) => roomOf(sender, this.#inFlight) > 0);
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
      // Once all that was due is claimed, nothing else is before the next second.
      const nextAt = claimed > 0 ? now + 1 : (dueAt ?? Infinity);
      this.#quietUntil = open.length < senders.length ? 0 : nextAt;
      await this.#sweep.eraseSome(erased);
      onTurn?.();
      const restSeconds = this.#inFlight.size > 0 ? Math.min(RENEWED_SECONDS, store.pollSeconds) : store.pollSeconds;
      return Math.min(nextAt, now + restSeconds) - this.#aheadSeconds;
    }
  }

  /** Before the first claim. */
  async #begin(): Promise<void> {
    const { store, guardsOverdue, onPaused, onOverdue } = this.#options;
    if (guardsOverdue !== false) await store.write(guardOverdue, { project: "none" });
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
   * A write for each project. Deliveries that have ended are recorded before, or together with, their project's next
   * claims, however often the store fails.
   */
  async #recordAndClaim(plans: readonly Plan[]): Promise<Turn> {
    const ended = groupByProject(this.#inFlight.ended(), ({ due }) => due.project.id);
    const planned = groupByProject(plans, ({ claim }) => claim.project);
    // The next mark records it, if one comes sooner.
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
  /** Something may be due that the look before did not show, or that had no room. */
  readonly isMore: boolean;
}

/** Leases end by the wall clock, which may be set forward while a message is in flight. */
function readClocks(clock: Clock): { readonly steadyMs: number; readonly wallMs: number } {
  return { steadyMs: clock.monotonic(), wallMs: clock.now() };
}

/** A restored data file would otherwise send what was sent long ago, or give up what nobody has looked at. */
async function holdAllOverdue({ store, maxAgeSeconds }: SchedulerOptions): Promise<number> {
  if (maxAgeSeconds === null || !(await store.read(isOverdueInBulk))) return 0;
  for (let held = 0; ;) {
    const step = await store.write((tx) => holdOverdue(tx, { maxAgeSeconds, limit: HOLD_BATCH }), { project: "all" });
    held += step;
    if (step < HOLD_BATCH) return held;
  }
}

/** The number of messages that a sender still takes. Those that have ended and are recorded next make room. */
function roomOf(sender: MessageSender, inFlight: InFlight): number {
  return sender.capacity(RENEWED_SECONDS) - inFlight.busy(sender);
}

/** A claim to be made in one project for a sender. */
interface Plan {
  readonly sender: MessageSender;
  readonly claim: Claim;
  /** The room of the sender when the claim is made; null: as the claim says, since others have their share. */
  readonly room: (() => number) | null;
}

/** For each sender at most what it has room for; its channels share that, and so do the projects. */
function plan({ senders, claimer }: SchedulerOptions, inFlight: InFlight, turns: Turns, due: DueProjects): Plan[] {
  return senders.flatMap((sender): Plan[] => {
    let room = roomOf(sender, inFlight);
    const channels = sender.channels.filter((channel) => (due.get(channel) ?? []).length > 0);
    const [only, ...others] = channels.flatMap((channel) =>
      (due.get(channel) ?? []).map((project) => ({ channel, project })),
    );
    if (only !== undefined && others.length === 0) {
      const claim = { ...only, limit: room, claimer, leaseSeconds: LEASE_SECONDS };
      return [{ sender, claim, room: () => roomOf(sender, inFlight) }];
    }
    return channels.flatMap((channel, index) => {
      const share = Math.ceil(room / (channels.length - index));
      room -= share;
      return turns
        .share(channel, due.get(channel) ?? [], share)
        .map((one) => ({ sender, claim: { ...one, claimer, channel, leaseSeconds: LEASE_SECONDS }, room: null }));
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
  for (const { sender, claim, room } of plans) {
    const limit = room?.() ?? claim.limit;
    if (limit <= 0) continue;
    const due = await claimDue(tx, { ...claim, limit }, channels);
    claimed.push(...due.messages.map((message) => ({ sender, due: message })));
    isFull ||= due.isFull;
  }
  return { claimed, isFull };
}
