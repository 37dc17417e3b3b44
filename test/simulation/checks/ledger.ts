/** What the world knows to be true, by what it asked for and what it was told; the service is held to it. */
import type { Trace } from "../world/trace.ts";
import { Possible } from "./possible.ts";

/** Something happened that must never happen. */
export class Violation extends Error {
  override readonly name = "Violation";
}

export interface SentMessage {
  readonly address: string;
  /** The link that names the survey. */
  readonly token: string;
  /** Of the letter, as a mail server sees it. */
  readonly messageId: string | null;
  readonly atMs: number;
  /** Whether the service was told that it arrived. */
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
  /** Whether the service was asked for it by a page or the API, and said yes. */
  isAcknowledged: boolean;
}

export interface Ledger {
  readonly turn: () => number;
  /** By `project/address`: whether there is such a person. */
  readonly people: Possible<"there" | "gone">;
  /** By `project/channel/address`: whether messages may go there. */
  readonly reach: Possible<"open" | "left" | "bounced">;
  /** By project, and `*` for all. */
  readonly pauses: Possible<"running" | "paused">;
  /** By `project/survey token` or `project/id`: the comment that names the answer; null for none. */
  readonly answers: Possible<string | null>;
  /** By comment: every answer that anybody tried to give. */
  readonly given: Map<string, Answered>;
  /** Messages that somebody received, by the survey's token. */
  readonly messages: Map<string, SentMessage[]>;
  /** Reminders that somebody received, by the token of their survey. */
  readonly reminders: Map<string, SentMessage[]>;
  /** By project and day of its zone: what left then, by survey and kind, with the address. */
  readonly days: Map<string, Map<string, string>>;
  /** By `project/address`: when a response of theirs was acknowledged last, Unix milliseconds. */
  readonly respondedMs: Map<string, number>;
  /** By `project/address`: when it was acknowledged last that all about them is erased, Unix milliseconds. */
  readonly erasedMs: Map<string, number>;
  /** By how much the clock that the service reads was wrong at most, and whether anything was written years ahead. */
  readonly clocks: { wrongMs: number; wereYearsAhead: boolean };
  /** By project: the `updated_at` of each response, as a client knows them that asks for changes since its last row. */
  readonly polled: Map<string, Map<string, number>>;
  /** By `project/address`: whether they are in Autopilot. */
  readonly members: Possible<"in" | "out">;
  /** By `project/address`: whether anybody wants to send a survey there. */
  readonly wanted: Possible<"never" | "asked">;
  /** `project/address` of those about whom everything may have been erased at some time. */
  readonly endangered: Set<string>;
  /** By the comment of the answer, what an endpoint took. */
  readonly events: Map<string, TakenEvent[]>;
  /** By project and operation: how many have surely left a line in the log, and how many may have. */
  readonly deeds: Map<string, { readonly surely: number; readonly perhaps: number }>;
  /** The largest id that was told of each project. */
  readonly ids: Map<string, number>;
  /** When processes died, Unix milliseconds. */
  readonly deaths: number[];
  /** Records a violation; the first one ends the run. */
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
