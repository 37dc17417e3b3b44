/**
 * The values that may be true after attempts that were acknowledged, refused or left unanswered. An attempt ends with
 * its reply or when its process dies. An acknowledged attempt decides the value unless another one began before it
 * ended.
 */

export type Outcome = "open" | "acknowledged" | "refused" | "unknown";

interface Attempt<Value> {
  readonly value: Value;
  readonly begunAt: number;
  endedAt: number;
  outcome: Outcome;
}

export type End = (outcome: Exclude<Outcome, "open">) => void;

export class Possible<Value> {
  readonly #initial: Value;
  readonly #turn: () => number;
  readonly #attempts = new Map<string, Attempt<Value>[]>();
  readonly #tried = new Map<string, Set<Value>>();

  /** `turn` returns a larger number each time; it orders all attempts in a world. */
  constructor(initial: Value, turn: () => number) {
    this.#initial = initial;
    this.#turn = turn;
  }

  /** Starts an attempt to set `key` to `value`. */
  begin(key: string, value: Value): End {
    const attempt: Attempt<Value> = { value, begunAt: this.#turn(), endedAt: Infinity, outcome: "open" };
    const known = this.#attempts.get(key) ?? [
      { value: this.#initial, begunAt: -1, endedAt: -1, outcome: "acknowledged" as const },
    ];
    known.push(attempt);
    this.#attempts.set(key, known);
    this.#tried.set(key, new Set([...this.everTried(key), value]));
    return (outcome) => {
      attempt.outcome = outcome;
      attempt.endedAt = this.#turn();
      const isOver = this.#isOver(known);
      known.splice(0, known.length, ...known.filter((one) => !isOver(one)));
    };
  }

  keys(): IterableIterator<string> {
    return this.#attempts.keys();
  }

  /** The values that `key` may have now. */
  values(key: string): ReadonlySet<Value> {
    const known = this.#attempts.get(key);
    if (known === undefined) return new Set([this.#initial]);
    const isOver = this.#isOver(known);
    return new Set(known.filter((one) => !isOver(one)).map(({ value }) => value));
  }

  /** Every value that was ever attempted. */
  everTried(key: string): ReadonlySet<Value> {
    return this.#tried.get(key) ?? new Set();
  }

  isSurely(key: string, value: Value): boolean {
    const values = this.values(key);
    return values.size === 1 && values.has(value);
  }

  /** Whether an attempt can no longer affect the value. */
  #isOver(known: readonly Attempt<Value>[]): (attempt: Attempt<Value>) => boolean {
    const decided = Math.max(...known.map(({ outcome, begunAt }) => (outcome === "acknowledged" ? begunAt : -1)));
    return ({ outcome, endedAt }) => outcome === "refused" || endedAt < decided;
  }
}
