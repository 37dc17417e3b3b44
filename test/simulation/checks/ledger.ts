/**
 * What must be true, according to the requests that were made and the replies that came. The service is checked against
 * it.
 */
import type { Trace } from "../world/trace.ts";
import { Possible } from "./possible.ts";

export class Violation extends Error {
  override readonly name = "Violation";
}

export interface SentMessage {
  readonly address: string;
  readonly token: string;
  /** The mail's Message-ID; null for texts. */
  readonly messageId: string | null;
  readonly atMs: number;
  /** Whether the service got the reply that accepted the message. */
  isKnown: boolean;
}

export interface TakenEvent {
  readonly id: string;
  readonly atMs: number;
  /** Whether the answer reached the service. */
  isKnown: boolean;
}

export interface Answered {
  readonly project: string;
  readonly address: string;
  readonly score: number;
  /** Whether a page or the API accepted it. */
  isAcknowledged: boolean;
}

export interface Ledger {
  readonly turn: () => number;
  /** By `project/address`: whether the person exists. */
  readonly people: Possible<"there" | "gone">;
  /** By `project/channel/address`: whether messages may be sent there. */
  readonly reach: Possible<"open" | "left" | "bounced">;
  /** By project; `*` is all projects. */
  readonly pauses: Possible<"running" | "paused">;
  /** By `project/survey token` or `project/id`: the comment that identifies the answer; null for none. */
  readonly answers: Possible<string | null>;
  /** By comment: every answer that was attempted. */
  readonly given: Map<string, Answered>;
  /** Messages received, by survey token. */
  readonly messages: Map<string, SentMessage[]>;
  /** Reminders received, by survey token. */
  readonly reminders: Map<string, SentMessage[]>;
  /** By project and local day: surveys and reminders sent that day, with their addresses. */
  readonly days: Map<string, Map<string, string>>;
  /** By `project/address`: when their last response was acknowledged, in Unix milliseconds. */
  readonly respondedMs: Map<string, number>;
  /** By `project/address`: when their last erasure was acknowledged, in Unix milliseconds. */
  readonly erasedMs: Map<string, number>;
  /** The service's largest clock error, and whether anything was written years ahead. */
  readonly clocks: { wrongMs: number; wereYearsAhead: boolean };
  /** By project: each response's `updated_at`, as seen by a client that polls for changes. */
  readonly polled: Map<string, Map<string, number>>;
  /** By `project/address`: whether the person is in Autopilot. */
  readonly members: Possible<"in" | "out">;
  /** By `project/address`: whether a survey was ever requested. */
  readonly wanted: Possible<"never" | "asked">;
  /** `project/address` of people who may have been erased at some point. */
  readonly endangered: Set<string>;
  /** By the answer's comment: the events that an endpoint accepted. */
  readonly events: Map<string, TakenEvent[]>;
  /** By project and operation: how many lines the log must have, and how many more it can have. */
  readonly deeds: Map<string, { readonly surely: number; readonly perhaps: number }>;
  /** The largest id seen, by project. */
  readonly ids: Map<string, number>;
  /** When processes died, in Unix milliseconds. */
  readonly deaths: number[];
  /** Records a violation and ends the run. */
  readonly violate: (what: string) => void;
  readonly violation: () => string | null;
}

export function createLedger(trace: Trace): Ledger {
  const state = { turn: 0, violation: null as string | null };
  const turn = (): number => (state.turn += 1);
  return {
    turn,
    people: new Possible<"there" | "gone">("gone", turn),
    reach: new Possible<"open" | "left" | "bounced">("open", turn),
    pauses: new Possible<"running" | "paused">("running", turn),
    answers: new Possible<string | null>(null, turn),
    given: new Map(),
    messages: new Map(),
    reminders: new Map(),
    days: new Map(),
    respondedMs: new Map(),
    erasedMs: new Map(),
    clocks: { wrongMs: 0, wereYearsAhead: false },
    polled: new Map(),
    members: new Possible<"in" | "out">("out", turn),
    wanted: new Possible<"never" | "asked">("never", turn),
    endangered: new Set(),
    events: new Map(),
    deeds: new Map(),
    ids: new Map(),
    deaths: [],
    violate: (what) => {
      if (state.violation !== null) return;
      state.violation = what;
      trace.add(`VIOLATION: ${what}`);
    },
    violation: () => state.violation,
  };
}

export function add<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key) ?? [];
  list.push(value);
  lists.set(key, list);
}
