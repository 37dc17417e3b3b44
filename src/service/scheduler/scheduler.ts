/** Claims what is due, has it delivered, records how that ended, and sleeps until the next is due. */
import type { Clock } from "../../runtime/clock.ts";
import { claimDue, finishDelivery, nextDueAt, releaseDeadClaims, type DeliveryOutcome } from "../domain/surveys.ts";
import type { DueSurvey, ErasedSurvey, Store } from "../domain/ports.ts";

export interface SchedulerOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Names this scheduler in claims. */
  readonly claimer: string;
  /** Resolves once these messages have gone out for good; one outcome for each, in order. */
  readonly deliver: (surveys: readonly DueSurvey[]) => Promise<readonly DeliveryOutcome[]>;
  /** Removes what is left of messages whose person is gone. Never runs beside `deliver`. */
  readonly erase: (surveys: readonly ErasedSurvey[]) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

export interface Scheduler {
  /** Starts the loop; a second call changes nothing. */
  readonly start: () => void;
  /** Says that something may be due now. Cheap. */
  readonly wake: () => void;
  /** Lets the batch in hand finish and ends the loop. */
  readonly stop: () => Promise<void>;
  /** Ends the loop once nothing is due any more. */
  readonly finish: () => Promise<void>;
}

const BATCH = 64;
/** Longer than any batch takes. */
const LEASE_SECONDS = 300;
/** A full disk for one: what waits goes on soon after there is room. */
const AFTER_ERROR_MS = 2_000;
const ERASE_BATCH = 500;
const REST_MIN_MS = 20;
/** The wall clock may be set while we sleep. */
const REST_MAX_MS = 60_000;

interface State {
  loop: Promise<void> | null;
  isWoken: boolean;
  nap: AbortController | null;
  hasReleased: boolean;
  /** Delivered, but not recorded yet. */
  unrecorded: { readonly surveys: readonly DueSurvey[]; readonly outcomes: readonly DeliveryOutcome[] } | null;
}

/** Does nothing until `start` or `finish`. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { store, clock, claimer, deliver, erase, onError } = options;
  const stopping = new AbortController();
  const state: State = { loop: null, isWoken: false, nap: null, hasReleased: false, unrecorded: null };

  /** What was delivered is recorded before anything else is claimed, however often the store fails in between. */
  const record = async (): Promise<void> => {
    const { unrecorded } = state;
    if (unrecorded === null) return;
    await store.write(async (tx) => {
      for (const [index, due] of unrecorded.surveys.entries()) {
        const outcome = unrecorded.outcomes[index];
        if (outcome !== undefined) await finishDelivery(tx, due, outcome);
      }
    });
    state.unrecorded = null;
  };

  const eraseGone = async (): Promise<void> => {
    const gone = await store.read((tx) => tx.requests.listErased(ERASE_BATCH));
    if (gone.length === 0) return;
    await erase(gone);
    await store.write((tx) => tx.requests.forgetErased(gone));
    if (gone.length === ERASE_BATCH) await eraseGone();
  };

  const deliverBatch = async (): Promise<number> => {
    const surveys = await store.write((tx) => claimDue(tx, { claimer, leaseSeconds: LEASE_SECONDS, limit: BATCH }));
    if (surveys.length === 0) return 0;
    state.unrecorded = { surveys, outcomes: await deliver(surveys) };
    await record();
    return surveys.length;
  };

  /** Delivers what is due; when the next one is, Unix seconds. Looking is cheaper than claiming, so it comes first. */
  const runDue = async (goesOn: () => boolean): Promise<number | null> => {
    // One process owns the data file, so every other claimer is dead.
    if (!state.hasReleased) await store.write((tx) => releaseDeadClaims(tx, [claimer]));
    state.hasReleased = true;
    await record();
    await eraseGone();
    for (;;) {
      const { dueAt, now } = await store.read(async (tx) => ({ dueAt: await nextDueAt(tx), now: tx.now }));
      const isDue = dueAt !== null && dueAt <= now && goesOn();
      if (!isDue || (await deliverBatch()) === 0) return dueAt;
    }
  };

  /** Until the next survey is due, or `wake`. */
  const rest = async (ms: number): Promise<void> => {
    if (state.isWoken || stopping.signal.aborted) return;
    const nap = new AbortController();
    state.nap = nap;
    try {
      await clock.sleep(ms, nap.signal);
    } catch (error) {
      if (!nap.signal.aborted) throw error;
    } finally {
      state.nap = null;
    }
  };

  const turn = async (): Promise<number> => {
    try {
      const dueAt = await runDue(() => !stopping.signal.aborted);
      if (dueAt === null) return REST_MAX_MS;
      return Math.min(Math.max(dueAt * 1000 - clock.now(), REST_MIN_MS), REST_MAX_MS);
    } catch (error) {
      onError(error);
      return AFTER_ERROR_MS;
    }
  };

  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      state.isWoken = false;
      await rest(await turn());
    }
  };

  const stop = async (): Promise<void> => {
    stopping.abort();
    state.nap?.abort();
    await state.loop;
  };

  return {
    start: () => {
      state.loop ??= loop();
    },
    wake: () => {
      state.isWoken = true;
      state.nap?.abort();
    },
    stop,
    finish: async () => {
      await stop();
      await runDue(() => true);
    },
  };
}
