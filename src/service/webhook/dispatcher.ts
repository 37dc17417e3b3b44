/** Sends events to their endpoints as they become due. */
import { unixSeconds, type Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Random } from "../../runtime/random.ts";
import type { Store, Transaction, WebhookRow } from "../domain/ports.ts";
import { type AttemptEnd, type AttemptMeaning, recordAttempt } from "../domain/webhooks/attempts.ts";
import { createLane, type EndedAttempt, type Lane } from "./lane.ts";
import { createEndpointTransport, type EndpointOptions } from "./transport.ts";
import { signedHeaders } from "./sign.ts";

export interface DispatcherOptions extends Pick<EndpointOptions, "own" | "resolve"> {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly onError: (error: unknown) => void;
}

/** An event that is sent at once, whether its endpoint is enabled or not, and not kept. */
export interface TestEvent {
  readonly eventId: string;
  readonly body: string;
}

export interface Dispatcher {
  /** Starts the loop; a second call changes nothing. */
  readonly start: () => void;
  /** Says that something may be due now. Cheap. */
  readonly wake: () => void;
  /** Begins no more attempts; those that run have five seconds to end, and are made again by the next start. */
  readonly stop: () => Promise<void>;
  readonly send: (webhook: WebhookRow, event: TestEvent) => Promise<AttemptEnd>;
  /** Attempts since the start, by what they meant. */
  readonly attempts: () => ReadonlyMap<AttemptMeaning["kind"], number>;
}

const AFTER_ERROR_MS = 2_000;
/** The wall clock may be set while we sleep. */
const REST_MAX_MS = 60_000;
const REST_MIN_MS = 20;
const STOP_MS = 5_000;

interface State {
  loop: Promise<void> | null;
  recording: Promise<void> | null;
  isWoken: boolean;
  nap: AbortController | null;
}

/** Does nothing until `start`. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, clock, random, log, onError } = options;
  const stopping = new AbortController();
  const leaving = new AbortController();
  const lanes = new Map<string, Lane>();
  const ended: EndedAttempt[] = [];
  const counts = new Map<AttemptMeaning["kind"], number>();
  const state: State = { loop: null, recording: null, isWoken: false, nap: null };
  const wake = (): void => {
    state.isWoken = true;
    state.nap?.abort();
  };

  const record = async (): Promise<void> => {
    while (ended.length > 0) {
      const some = ended.slice();
      try {
        const meanings = await store.write((tx) => recordAll(tx, some, random));
        ended.splice(0, some.length);
        for (const [index, { lane, due }] of some.entries()) {
          lane.forget(due);
          tell(log, counts, lane.webhook(), meanings[index]);
        }
        wake();
      } catch (error) {
        onError(error);
        await clock.sleep(AFTER_ERROR_MS, leaving.signal);
      }
    }
  };
  const onEnd = (attempt: EndedAttempt): void => {
    ended.push(attempt);
    state.recording ??= record()
      .catch(() => undefined)
      .finally(() => {
        state.recording = null;
      });
  };

  /** Hands each endpoint what is due; when the next becomes due, Unix seconds. */
  const handOut = async (): Promise<{ readonly now: number; readonly next: number | null }> => {
    const { now, next, shares } = await store.read((tx) => readShares(tx, lanes));
    const known = new Set(shares.map(({ webhook }) => keyOf(webhook)));
    for (const [key, lane] of lanes) {
      if (known.has(key)) continue;
      lane.clear();
      if (lane.size() === 0 && lanes.delete(key)) lane.close();
    }
    for (const { webhook, due } of shares) {
      const lane = lanes.get(keyOf(webhook)) ?? createLane({ ...options, onEnd, signal: leaving.signal });
      lanes.set(keyOf(webhook), lane);
      lane.take(webhook, stopping.signal.aborted ? [] : due);
    }
    return { now, next };
  };

  const settle = async (): Promise<void> => {
    await Promise.all([...lanes.values()].map((lane) => lane.idle()));
    await state.recording;
  };
  const rest = async (ms: number): Promise<void> => {
    if (state.isWoken || stopping.signal.aborted) return;
    const nap = new AbortController();
    state.nap = nap;
    // Rejects when it is woken.
    await clock.sleep(ms, nap.signal).catch(() => undefined);
    state.nap = null;
  };
  const turn = async (): Promise<number> => {
    try {
      const { next } = await handOut();
      if (next === null) return REST_MAX_MS;
      return Math.min(Math.max(next * 1000 - clock.now(), REST_MIN_MS), REST_MAX_MS);
    } catch (error) {
      onError(error);
      state.isWoken = false;
      return AFTER_ERROR_MS;
    }
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      state.isWoken = false;
      await rest(await turn());
    }
  };
  return {
    start: () => {
      state.loop ??= loop();
    },
    wake,
    stop: async () => {
      stopping.abort();
      state.nap?.abort();
      await state.loop;
      for (const lane of lanes.values()) lane.clear();
      await endWithin(clock, settle());
      leaving.abort();
      await settle();
      for (const lane of lanes.values()) lane.close();
    },
    send: async (webhook, { eventId, body }) => {
      const transport = createEndpointTransport(options, 1);
      try {
        const headers = signedHeaders(webhook, { eventId, body }, unixSeconds(clock));
        const end = await transport.post(webhook, headers, body, leaving.signal);
        return end ?? { status: null, ms: 0, text: "the service was stopped", retryAfter: null };
      } finally {
        transport.close();
      }
    },
    attempts: () => counts,
  };
}

function keyOf({ project, id }: WebhookRow): string {
  return `${project.id} ${id}`;
}

interface Share {
  readonly webhook: WebhookRow;
  readonly due: Awaited<ReturnType<Transaction["webhooks"]["due"]>>;
}

/** For each enabled endpoint what it has room for, and when something is due next. */
async function readShares(
  tx: Transaction,
  lanes: ReadonlyMap<string, Lane>,
): Promise<{ readonly now: number; readonly next: number | null; readonly shares: readonly Share[] }> {
  const shares: Share[] = [];
  const dues: number[] = [];
  for (const webhook of await tx.webhooks.list(null)) {
    const { project, id, disabledAt, slowUntil } = webhook;
    if (disabledAt !== null) continue;
    const isSlow = slowUntil !== null && slowUntil > tx.now;
    const limit = isSlow ? 0 : (lanes.get(keyOf(webhook))?.wanted() ?? FIRST_SHARE);
    shares.push({ webhook, due: limit === 0 ? [] : await tx.webhooks.due(webhook, limit) });
    const next = isSlow ? slowUntil : await tx.webhooks.nextDueAt(project.id, id);
    if (next !== null) dues.push(next);
  }
  return { now: tx.now, next: dues.length === 0 ? null : Math.min(...dues), shares };
}

const FIRST_SHARE = 32;

/** In one transaction, and so one commit. */
async function recordAll(
  tx: Transaction,
  ended: readonly EndedAttempt[],
  random: Random,
): Promise<readonly AttemptMeaning[]> {
  const meanings: AttemptMeaning[] = [];
  for (const { lane, due, end } of ended)
    meanings.push(await recordAttempt(tx, lane.webhook(), due.event, end, random.fraction()));
  return meanings;
}

/** Counts an attempt; only that an endpoint is disabled is worth a line. Its URL may be a secret. */
function tell(
  log: Log,
  counts: Map<AttemptMeaning["kind"], number>,
  { project, id, url }: WebhookRow,
  meaning: AttemptMeaning | undefined,
): void {
  if (meaning === undefined) return;
  counts.set(meaning.kind, (counts.get(meaning.kind) ?? 0) + 1);
  if (meaning.kind !== "disabled") return;
  const message = `webhook ${id} is disabled: ${meaning.reason}; events wait for it for 7 days`;
  log.warn("webhook_disabled", { project: project.name, webhook: id, host: new URL(url).host, message });
}

async function endWithin(clock: Clock, work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const over = clock.sleep(STOP_MS, done.signal).catch(() => undefined);
  await Promise.race([work, over]);
  done.abort();
}
