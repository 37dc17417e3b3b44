/** One endpoint: what waits for it, and the few attempts that run. One person's events go one after another. */
import { unixSeconds, type Clock } from "../../runtime/clock.ts";
import type { DueEvent, WebhookRow } from "../domain/ports.ts";
import { type AttemptEnd, asksForPause } from "../domain/webhooks/attempts.ts";
import { signedHeaders } from "./sign.ts";
import { createEndpointTransport, type EndpointOptions } from "./transport.ts";

export interface EndedAttempt {
  readonly lane: Lane;
  readonly due: DueEvent;
  readonly end: AttemptEnd;
}

export interface LaneOptions extends EndpointOptions {
  readonly clock: Clock;
  readonly onEnd: (attempt: EndedAttempt) => void;
  /** Ends attempts that run; of those nothing is told. */
  readonly signal: AbortSignal;
}

export interface Lane {
  /** The endpoint as it was read last. */
  readonly webhook: () => WebhookRow;
  /** How many due events to read: those in hand are among them. 0 when there is no room. */
  readonly wanted: () => number;
  /** Takes over what is not in hand already. */
  readonly take: (webhook: WebhookRow, due: readonly DueEvent[]) => void;
  /** The end of its attempt is recorded. */
  readonly forget: (due: DueEvent) => void;
  /** Drops what has not begun. */
  readonly clear: () => void;
  /** How many are in hand: waiting, running or not recorded. */
  readonly size: () => number;
  /** Resolves when no attempt runs. */
  readonly idle: () => Promise<void>;
  readonly close: () => void;
}

const AT_ONCE = 4;
const WAITING_MAX = 32;
const WAITING_LOW = 8;
/** Ended and not recorded: no more begins until the disk has caught up. */
const IN_HAND_MAX = 256;

export function createLane(options: LaneOptions): Lane {
  const { clock, onEnd, signal } = options;
  const transport = createEndpointTransport(options, AT_ONCE);
  const waiting: DueEvent[] = [];
  const running = new Map<DueEvent, Promise<void>>();
  const inHand = new Map<number, DueEvent>();
  const busy = new Set<number>();
  /** Answers that ask for a pause, until they are recorded. */
  const pauses = new Set<DueEvent>();
  const state: { webhook: WebhookRow | null } = { webhook: null };
  const webhook = (): WebhookRow => {
    if (state.webhook === null) throw new Error("nothing was taken yet");
    return state.webhook;
  };
  const attempt = async (due: DueEvent): Promise<void> => {
    const { eventId, body } = due;
    const headers = signedHeaders(webhook(), { eventId, body }, unixSeconds(clock));
    const end = await transport.post(webhook(), headers, body, signal);
    running.delete(due);
    busy.delete(due.personId);
    if (end !== null && asksForPause(end.status)) {
      pauses.add(due);
      lane.clear();
    }
    if (end === null) inHand.delete(due.event);
    else onEnd({ lane, due, end });
    pump();
  };
  const pump = (): void => {
    // An endpoint that asked to be left alone is tried by one at first.
    const limit = webhook().strikes > 0 ? 1 : AT_ONCE;
    while (running.size < limit && pauses.size === 0 && !signal.aborted) {
      const at = waiting.findIndex(({ personId }) => !busy.has(personId));
      const [due] = at === -1 ? [] : waiting.splice(at, 1);
      if (due === undefined) break;
      busy.add(due.personId);
      running.set(due, attempt(due));
    }
  };
  const lane: Lane = {
    webhook,
    wanted: () => {
      const isFull = waiting.length > WAITING_LOW || inHand.size >= IN_HAND_MAX;
      return isFull || pauses.size > 0 ? 0 : inHand.size + WAITING_MAX;
    },
    take: (row, due) => {
      state.webhook = row;
      for (const one of due.filter(({ event }) => !inHand.has(event)).slice(0, WAITING_MAX)) {
        inHand.set(one.event, one);
        waiting.push(one);
      }
      if (row.slowUntil !== null && row.slowUntil > unixSeconds(clock)) lane.clear();
      pump();
    },
    forget: (due) => {
      inHand.delete(due.event);
      pauses.delete(due);
    },
    clear: () => {
      for (const { event } of waiting.splice(0)) inHand.delete(event);
    },
    size: () => inHand.size,
    idle: async () => void (await Promise.all(running.values())),
    close: transport.close,
  };
  return lane;
}
