/**
 * What may be true after attempts whose answers came, did not come, or said no. An attempt is over when its answer came
 * or its process died; one that was acknowledged decides, unless another one began before it had ended.
 */

export type Outcome = "open" | "acknowledged" | "refused" | "unknown";

interface Attempt<Value> {
  readonly value: Value;
  readonly begunAt: number;
  endedAt: number;
  outcome: Outcome;
}

/** Ends an attempt. */
export type End = (outcome: Exclude<Outcome, "open">) => void;

export class Possible<Value> {
  readonly #initial: Value;
  readonly #turn: () => number;
  readonly #attempts = new Map<string, Attempt<Value>[]>();
  readonly #tried = new Map<string, Set<Value>>();

  /** `turn` gives another, larger number with each call; it orders all attempts of a world. */
  constructor(initial: Value, turn: () => number) {
    this.#initial = initial;
    this.#turn = turn;
  }

  /** An attempt to make the value of `key` this one begins. */
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

  /** What the value of `key` may be now. */
  values(key: string): ReadonlySet<Value> {
    const known = this.#attempts.get(key);
    if (known === undefined) return new Set([this.#initial]);
    const isOver = this.#isOver(known);
    return new Set(known.filter((one) => !isOver(one)).map(({ value }) => value));
  }

  /** Every value that anybody has tried to make. */
  everTried(key: string): ReadonlySet<Value> {
    return this.#tried.get(key) ?? new Set();
  }

  isSurely(key: string, value: Value): boolean {
    const values = this.values(key);
    return values.size === 1 && values.has(value);
  }

  /** Whether an attempt can have left nothing behind. */
  #isOver(known: readonly Attempt<Value>[]): (attempt: Attempt<Value>) => boolean {
    const decided = Math.max(...known.map(({ outcome, begunAt }) => (outcome === "acknowledged" ? begunAt : -1)));
    return ({ outcome, endedAt }) => outcome === "refused" || endedAt < decided;
  }
}
