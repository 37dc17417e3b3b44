/** Claims what is due, has it delivered, records how each delivery ended, and sleeps until the next is due. */
import type { Channel } from "../../contract/routes.ts";
import { type Clock, unixSeconds } from "../../runtime/clock.ts";
import { groupByProject, unlessFailed } from "../domain/by-project.ts";
import { claimDue, listDueProjects, nextDueAt, type OnUnknown } from "../domain/delivery/deliveries.ts";
import { LIFE_SECONDS } from "../domain/delivery/living.ts";
import { guardOverdue, holdOverdue, isOverdueInBulk, type Pause, readPause } from "../domain/delivery/oversight.ts";
import type { DeliveryResult, MessageSender } from "../domain/delivery/sender.ts";
import { createTurns, type Turns } from "../domain/delivery/turns.ts";
import type { Claim, DueSurvey, Store, Transaction } from "../domain/ports.ts";
import { createWakeLoop, type WakeLoop } from "../../runtime/wake-loop.ts";
import { createHand, type EndedDelivery, finishAll, type Hand } from "./hand.ts";
import type { Heartbeat } from "./heartbeat.ts";

export interface SchedulerOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Names this scheduler in claims. */
  readonly claimer: string;
  readonly heartbeat: Heartbeat;
  /** At most one for each channel. */
  readonly senders: readonly MessageSender[];
  /** Whether messages that are kept anywhere are kept where senders look. Absent: yes. */
  readonly holdsMessages?: () => boolean;
  /** Messages that were scheduled longer ago are given up; null for no limit. */
  readonly maxAgeSeconds: number | null;
  readonly onUnknown: OnUnknown;
  /** False for a command, which could not say that all is paused. Absent: true. */
  readonly guardsOverdue?: boolean;
  /** Called with each outcome once it is recorded, and how long it took from the claim. */
  readonly onOutcome: (due: DueSurvey, result: DeliveryResult, seconds: number) => void;
  /** Called whenever it has looked for due surveys without an error. */
  readonly onTurn?: () => void;
  /** Called once, before the first claim, with how many surveys are held because they were overdue in bulk. */
  readonly onOverdue?: (held: number) => void;
  /** Called once, before the first claim, when nothing is sent. */
  readonly onPaused?: (pause: Pause) => void;
  readonly onError: (error: unknown) => void;
}

export interface Scheduler {
  /** Starts the loop; a second call changes nothing. */
  readonly start: () => void;
  /** Says that something may be due, now or at `dueAt`, Unix seconds, or that a sender has room again. Cheap. */
  readonly wake: (dueAt?: number) => void;
  /**
   * Claims nothing more, puts back what has not begun, and lets transmissions end: after 30 seconds those without a mark
   * are put back, 10 seconds later those with one are unknown.
   */
  readonly stop: () => Promise<void>;
  /**
   * Removes messages whose person is gone, or which were cancelled, and returns how many. Waits for those in hand, for 30
   * seconds at most. Null when messages are kept where this process does not look: then the next server removes them.
   */
  readonly sweep: () => Promise<number | null>;
  /** Ends the loop once nothing is due any more. */
  readonly finish: () => Promise<void>;
}

/** Renewed while a message is in hand, so it only ends for a process that hangs. */
const LEASE_SECONDS = 300;
/** Shorter where other processes share the data: they wait for the leases of one that died. */
const SHARED_LEASE_SECONDS = LIFE_SECONDS;
/** Surveys that another process was asked for are found after this long. */
const SHARED_REST_SECONDS = 2;
/** Ended deliveries are recorded together, while other messages are on their way. */
const RECORD_WAIT_MS = 5;
/** On shared data, surveys that are scheduled within this time are looked for together. */
const LOOK_WAIT_MS = 100;
const ERASE_BATCH = 500;
const SWEEP_MS = 30_000;
const SWEEP_PAUSE_MS = 50;
/** Few, so that the API's own writes wait briefly. */
const HOLD_BATCH = 100;

interface State {
  hasBegun: boolean;
  isWoken: boolean;
  renewedMs: number;
}

/** Does nothing until `start` or `finish`. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { store, clock, heartbeat, onUnknown, onError, holdsMessages = () => true } = options;
  const leaseSeconds = leaseOf(store);
  const state: State = { hasBegun: false, isWoken: false, renewedMs: 0 };
  const hand = createHand({ ...options, onEnd: () => loop.wake() });
  const turns = createTurns();

  /**
   * A write for each project. What was delivered is recorded before, or together with, its project's next claims, however
   * often the store fails.
   */
  const recordAndClaim = async (plans: readonly Plan[]): Promise<number> => {
    const ended = groupByProject(hand.ended(), ({ due }) => due.project.id);
    const planned = groupByProject(plans, ({ claim }) => claim.project);
    // The next mark records it, if one comes sooner.
    const mayWaitMs = hand.isBusy() ? RECORD_WAIT_MS : 0;
    const work = async (project: number): Promise<number> => {
      const done = ended.get(project) ?? [];
      const wanted = planned.get(project) ?? [];
      const claimed = await store.write((tx) => recordThenClaim(tx, done, wanted, onUnknown), { project, mayWaitMs });
      hand.forget(done);
      for (const { due, result, seconds } of done) options.onOutcome(due, result, seconds);
      for (const { sender, due } of claimed) hand.take(sender, due);
      return claimed.length + done.length;
    };
    const counts = await unlessFailed([...new Set([...ended.keys(), ...planned.keys()])].map(work));
    return counts.reduce((sum, count) => sum + count, 0);
  };

  /** How many messages were removed, and how many are left. */
  const eraseSome = async (): Promise<{ readonly removed: number; readonly left: number }> => {
    if (!holdsMessages()) return { removed: 0, left: 0 };
    const gone = await store.read((tx) => tx.requests.listErased(ERASE_BATCH));
    // A message that is in hand is written after it would be erased.
    const idle = gone.filter((survey) => !hand.has(survey));
    if (idle.length === 0) return { removed: 0, left: gone.length };
    let removed = 0;
    for (const sender of options.senders) removed += await sender.erase(idle);
    for (const [project, some] of groupByProject(idle, (survey) => survey.project.id))
      await store.write((tx) => tx.requests.forgetErased(some), { project });
    if (gone.length < ERASE_BATCH) return { removed, left: gone.length - idle.length };
    const more = await eraseSome();
    return { removed: removed + more.removed, left: more.left };
  };
  const sweep = async (): Promise<number | null> => {
    if (!holdsMessages()) return null;
    const startedMs = clock.monotonic();
    for (let sum = 0; ;) {
      const { removed, left } = await eraseSome();
      sum += removed;
      if (left === 0 || clock.monotonic() - startedMs > SWEEP_MS) return sum;
      await clock.sleep(SWEEP_PAUSE_MS);
    }
  };

  const renew = async (): Promise<void> => {
    const nowMs = clock.monotonic();
    if (hand.size() === 0 || nowMs - state.renewedMs < (leaseSeconds / 3) * 1000) return;
    const held = groupByProject(hand.unmarked(), (due) => due.project.id);
    const renewAll = [...held].map(([project, some]) =>
      store.write((tx) => tx.requests.renewClaims(some, tx.now + leaseSeconds), { project }),
    );
    await unlessFailed(renewAll);
    state.renewedMs = nowMs;
  };

  /** Before the first claim. */
  const begin = async (): Promise<void> => {
    if (options.guardsOverdue !== false) await store.write(guardOverdue, { project: "none" });
    const pause = await store.read(readPause);
    if (pause !== null) options.onPaused?.(pause);
    const held = await holdAllOverdue(options);
    if (held > 0) options.onOverdue?.(held);
  };

  /**
   * Has all delivered that is due and that senders have room for; when the next one is, Unix seconds. Looking is cheaper
   * than claiming, so it comes first.
   */
  const runDue = async (goesOn: () => boolean): Promise<number | null> => {
    await heartbeat.beat();
    if (!state.hasBegun) await begin();
    state.hasBegun = true;
    await renew();
    for (;;) {
      const channels = options.senders
        .filter((sender) => roomOf(sender, hand, leaseSeconds) > 0)
        .flatMap((sender) => sender.channels);
      const { dueAt, now, due } = await store.read((tx) => look(tx, channels));
      if (hand.size() === 0) state.renewedMs = clock.monotonic();
      if ((await recordAndClaim(goesOn() ? plan(options, hand, turns, due) : [])) > 0) continue;
      await eraseSome();
      options.onTurn?.();
      return store.isShared ? Math.min(dueAt ?? Infinity, now + SHARED_REST_SECONDS) : dueAt;
    }
  };

  const loop: WakeLoop = createWakeLoop(clock, () => runDue(() => !loop.stopping.aborted), onError);
  /** Looking is expensive where the data is elsewhere, and surveys may come in by the thousand. */
  const wake = (dueAt = 0): void => {
    if (!store.isShared) return loop.wake(dueAt);
    if (state.isWoken || dueAt > unixSeconds(clock) + SHARED_REST_SECONDS) return;
    state.isWoken = true;
    const wakeNow = (): void => {
      state.isWoken = false;
      loop.wake();
    };
    void clock.sleep(LOOK_WAIT_MS, loop.stopping).then(wakeNow, () => undefined);
  };
  return {
    start: loop.start,
    wake,
    sweep,
    stop: async () => {
      await loop.stop();
      await hand.drain(async () => void (await recordAndClaim([]).catch(onError)));
      await heartbeat.end().catch(onError);
    },
    finish: async () => {
      await loop.stop();
      do {
        await hand.nextEnd();
        await runDue(() => true);
      } while (hand.size() > 0);
    },
  };
}

/** A restored data file would otherwise send what was sent long ago, or give up what nobody has looked at. */
async function holdAllOverdue({ store, maxAgeSeconds }: SchedulerOptions): Promise<number> {
  if (maxAgeSeconds === null || !(await store.read(isOverdueInBulk))) return 0;
  for (let held = 0; ;) {
    const step = await store.write((tx) => holdOverdue(tx, { maxAgeSeconds, limit: HOLD_BATCH }));
    held += step;
    if (step < HOLD_BATCH) return held;
  }
}

function leaseOf({ isShared }: Store): number {
  return isShared ? SHARED_LEASE_SECONDS : LEASE_SECONDS;
}

/** How many more messages a sender takes. What has ended and is recorded next makes room. */
function roomOf(sender: MessageSender, hand: Hand, leaseSeconds: number): number {
  return sender.capacity(leaseSeconds / 3) - hand.busy(sender);
}

/** The projects that have something due on a channel. */
type DueProjects = ReadonlyMap<Channel, readonly number[]>;

async function look(
  tx: Transaction,
  channels: readonly Channel[],
): Promise<{ readonly dueAt: number | null; readonly now: number; readonly due: DueProjects }> {
  const dueAt = await nextDueAt(tx, channels);
  const due = new Map<Channel, readonly number[]>();
  if (dueAt !== null && dueAt <= tx.now)
    for (const channel of channels) due.set(channel, await listDueProjects(tx, channel));
  return { dueAt, now: tx.now, due };
}

/** What is to be claimed in one project for a sender. */
interface Plan {
  readonly sender: MessageSender;
  readonly claim: Claim;
  /** What the sender has room for when the claim is made; null: as the claim says, since others have their share. */
  readonly room: (() => number) | null;
}

/** For each sender at most what it has room for; its channels share that, and so do the projects. */
function plan({ store, senders, claimer }: SchedulerOptions, hand: Hand, turns: Turns, due: DueProjects): Plan[] {
  const leaseSeconds = leaseOf(store);
  return senders.flatMap((sender): Plan[] => {
    let room = roomOf(sender, hand, leaseSeconds);
    const channels = sender.channels.filter((channel) => (due.get(channel) ?? []).length > 0);
    const [only, ...others] = channels.flatMap((channel) =>
      (due.get(channel) ?? []).map((project) => ({ channel, project })),
    );
    if (only !== undefined && others.length === 0) {
      const claim = { ...only, limit: room, claimer, leaseSeconds };
      return [{ sender, claim, room: () => roomOf(sender, hand, leaseSeconds) }];
    }
    return channels.flatMap((channel, index) => {
      const share = Math.ceil(room / (channels.length - index));
      room -= share;
      return turns
        .share(channel, due.get(channel) ?? [], share)
        .map((one) => ({ sender, claim: { ...one, claimer, channel, leaseSeconds }, room: null }));
    });
  });
}

interface Claimed {
  readonly sender: MessageSender;
  readonly due: DueSurvey;
}

async function recordThenClaim(
  tx: Transaction,
  ended: readonly EndedDelivery[],
  plans: readonly Plan[],
  onUnknown: OnUnknown,
): Promise<Claimed[]> {
  await finishAll(tx, ended, onUnknown);
  const claimed: Claimed[] = [];
  for (const { sender, claim, room } of plans) {
    const limit = room?.() ?? claim.limit;
    if (limit <= 0) continue;
    claimed.push(...(await claimDue(tx, { ...claim, limit })).map((due) => ({ sender, due })));
  }
  return claimed;
}
