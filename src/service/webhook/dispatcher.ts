/** Sends events to their endpoints as they become due. */
import { unixSeconds, type Clock } from "../../runtime/clock.ts";
import { createWakeLoop, type WakeLoop } from "../../runtime/wake-loop.ts";
import type { Log } from "../../runtime/log.ts";
import type { Random } from "../../runtime/random.ts";
import { groupByProject, unlessFailed } from "../domain/by-project.ts";
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
  /** Whether this process sends; absent: always. */
  readonly mayStart?: () => boolean;
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
  /** Drops what was read and is not on its way: some of it may have been deleted. */
  readonly reread: () => void;
  /** Begins no more attempts; those that run have five seconds to end, and are made again by the next start. */
  readonly stop: () => Promise<void>;
  readonly send: (webhook: WebhookRow, event: TestEvent) => Promise<AttemptEnd>;
  /** Attempts since the start, by what they meant. */
  readonly attempts: () => ReadonlyMap<AttemptMeaning["kind"], number>;
}

const AFTER_ERROR_MS = 2_000;
const STOP_MS = 5_000;
/** Attempts that end within this time share a commit, unless there are many. */
const GATHER_MS = 20;
const RECORDED_AT_ONCE = 64;
/** What another process has added is found after this long. */
const SHARED_REST_SECONDS = 2;

interface State {
  recording: Promise<void> | null;
}

/** Does nothing until `start`. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { store, clock, random, log, onError, mayStart = () => true } = options;
  /** When others may have added something, Unix seconds. */
  const soon = (): number | null => (store.isShared ? unixSeconds(clock) + SHARED_REST_SECONDS : null);
  const leaving = new AbortController();
  const lanes = new Map<string, Lane>();
  const ended: EndedAttempt[] = [];
  const counts = new Map<AttemptMeaning["kind"], number>();
  const state: State = { recording: null };

  const recordIn = async (project: number, some: readonly EndedAttempt[]): Promise<void> => {
    const meanings = await store.write((tx) => recordAll(tx, some, random), { project });
    const recorded = new Set(some);
    ended.splice(0, ended.length, ...ended.filter((one) => !recorded.has(one)));
    for (const [index, { lane, due }] of some.entries()) {
      lane.forget(due);
      tell(log, counts, lane.webhook(), meanings[index]);
    }
  };
  const record = async (): Promise<void> => {
    while (ended.length > 0) {
      try {
        if (ended.length < RECORDED_AT_ONCE) await clock.sleep(GATHER_MS);
        const groups = groupByProject(ended.slice(), ({ lane }) => lane.webhook().project.id);
        await unlessFailed([...groups].map(([project, some]) => recordIn(project, some)));
        loop.wake();
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
  const handOut = async (): Promise<number | null> => {
    // Of several processes one sends, so that an event does not come twice from two of them.
    if (!mayStart()) return soon();
    const { next, shares } = await store.read((tx) => readShares(tx, lanes));
    const known = new Set(shares.map(({ webhook }) => keyOf(webhook)));
    for (const [key, lane] of lanes) {
      if (known.has(key)) continue;
      lane.clear();
      if (lane.size() === 0 && lanes.delete(key)) lane.close();
    }
    for (const { webhook, due } of shares) {
      const lane = lanes.get(keyOf(webhook)) ?? createLane({ ...options, onEnd, signal: leaving.signal });
      lanes.set(keyOf(webhook), lane);
      lane.take(webhook, loop.stopping.aborted ? [] : due);
    }
    return store.isShared ? Math.min(next ?? Infinity, soon() ?? Infinity) : next;
  };

  const settle = async (): Promise<void> => {
    await Promise.all([...lanes.values()].map((lane) => lane.idle()));
    await state.recording;
  };
  const loop: WakeLoop = createWakeLoop(clock, handOut, onError);
  return {
    start: loop.start,
    wake: loop.wake,
    reread: () => {
      for (const lane of lanes.values()) lane.clear();
      loop.wake();
    },
    stop: async () => {
      await loop.stop();
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
): Promise<{ readonly next: number | null; readonly shares: readonly Share[] }> {
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
  return { next: dues.length === 0 ? null : Math.min(...dues), shares };
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
