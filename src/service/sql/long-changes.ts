import type { Clock } from "../../runtime/clock.ts";
import type { Database } from "./database.ts";

/** Rows per step. */
export const STEP = 50;
/** A transaction runs steps for at most this time, so that other writes wait only briefly, and at most this many. */
const STEPS_MS = 20;
const STEPS_MAX = 20;

export type LongChangeKind = "fill trend" | "remove trend" | "remove person" | "remove project" | "reschedule";

export interface LongChange {
  readonly project: number;
  readonly kind: LongChangeKind;
  /** The id of the trend, person or project, or the platform's name. */
  readonly target: string;
  /** The last id processed; steps run in ascending id order. */
  readonly doneTo: number;
}

type Key = Omit<LongChange, "doneTo">;

const CHANGE = "project_id = ? AND kind = ? AND target = ?";

export interface LongChangesOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** Set to true when a change is saved. */
  readonly isNoted: { value: boolean };
}

/** Changes to many rows, made in steps: the first ones together with the change, the others in later transactions. */
export class LongChanges {
  readonly #database: Database;
  readonly #step: (change: LongChange) => Promise<number | null>;
  readonly #options: LongChangesOptions;

  /** `step` runs one step and resolves with the last id processed, or null when nothing is left. */
  constructor(database: Database, step: (change: LongChange) => Promise<number | null>, options: LongChangesOptions) {
    this.#database = database;
    this.#step = step;
    this.#options = options;
  }

  /** Runs the first steps now and, if more are needed, saves the change for later. True if everything is done. */
  async begin(change: Key): Promise<boolean> {
    this.forget(change);
    const doneTo = await this.#proceed({ ...change, doneTo: 0 });
    if (doneTo === null) return true;
    const { project, kind, target } = change;
    this.#database.send("INSERT INTO long_changes (project_id, kind, target, done_to) VALUES (?, ?, ?, ?)", [
      project,
      kind,
      target,
      doneTo,
    ]);
    this.#options.isNoted.value = true;
    return false;
  }

  forget({ project, kind, target }: Key): void {
    this.#database.send(`DELETE FROM long_changes WHERE ${CHANGE}`, [project, kind, target]);
  }

  /** The project of a saved change, or null. */
  async project(): Promise<number | null> {
    return (await this.#next("", []))?.project ?? null;
  }

  /** Runs some steps of the project's saved change. Called in a write. */
  async proceed(project: number): Promise<void> {
    const change = await this.#next("WHERE project_id = ?", [project]);
    if (change === null) return;
    const doneTo = await this.#proceed(change);
    if (doneTo === null) return this.forget(change);
    const { kind, target } = change;
    this.#database.send(`UPDATE long_changes SET done_to = ? WHERE ${CHANGE}`, [doneTo, project, kind, target]);
  }

  async #proceed(change: LongChange): Promise<number | null> {
    const { monotonic } = this.#options.clock;
    const endsMs = monotonic() + STEPS_MS;
    let doneTo = await this.#step(change);
    for (let n = 1; n < STEPS_MAX && doneTo !== null && monotonic() < endsMs; n += 1)
      doneTo = await this.#step({ ...change, doneTo });
    return doneTo;
  }

  async #next(where: string, values: readonly number[]): Promise<LongChange | null> {
    return (await this.#database.first(
      `SELECT project_id AS project, kind, target, done_to AS "doneTo" FROM long_changes ${where}
       ORDER BY project_id, kind, target LIMIT 1`,
      values,
    )) as LongChange | null;
  }
}

export interface StepLoopOptions {
  /** Set if a change may be saved; the loop clears it. */
  readonly isNoted: { value: boolean };
  /** Finds a project with a saved change in a read, which doesn't wait for writers. */
  readonly find: () => Promise<number | null>;
  /** Runs some steps of that project in a separate transaction. */
  readonly proceed: (project: number) => Promise<unknown>;
  readonly isClosed: () => boolean;
}

/** A failed step ends the loop until the next start. */
export class StepLoop {
  readonly #options: StepLoopOptions;
  #running: Promise<void> | null = null;

  constructor(options: StepLoopOptions) {
    this.#options = options;
  }

  /** Cheap if the loop is running or nothing is saved. */
  start = (): void => {
    // `settle` reports failures; the store continues either way.
    void this.settle().catch(() => undefined);
  };

  /** Resolves when no change is left; rejects with the error of a failed step. */
  settle = (): Promise<void> => {
    if (this.#hasWork()) this.#running ??= this.#run();
    return this.#running ?? Promise.resolve();
  };

  #hasWork(): boolean {
    return this.#options.isNoted.value && !this.#options.isClosed();
  }

  async #run(): Promise<void> {
    const { isNoted, find, proceed } = this.#options;
    try {
      while (this.#hasWork()) {
        isNoted.value = false;
        const project = await find().catch((error: unknown) => {
          isNoted.value = true;
          throw error;
        });
        if (project === null) continue;
        isNoted.value = true;
        await proceed(project);
      }
    } finally {
      this.#running = null;
    }
  }
}
