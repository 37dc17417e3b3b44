import type { Database } from "./database.ts";

/** Rows a step. */
export const STEP = 1000;

export type LongChangeKind = "fill trend" | "remove trend" | "remove person" | "reschedule";

export interface LongChange {
  readonly project: number;
  readonly kind: LongChangeKind;
  /** The id of the trend or person, or the name of the platform. */
  readonly target: string;
  /** The last id that is done; ids rise. */
  readonly doneTo: number;
}

/** Does a step and resolves with its end; null when nothing is left to do. */
export type Step = (change: LongChange) => Promise<number | null>;

export interface LongChanges {
  /** Does the first step now and, when it was not the last, notes the change. Whether all is done. */
  begin(change: Omit<LongChange, "doneTo">): Promise<boolean>;
  /** Gives a change up. */
  forget(change: Omit<LongChange, "doneTo">): void;
  /** The project of a change that was noted; null when there is none. */
  project(): Promise<number | null>;
  /** Does one step of a change that was noted in this project, if one still is. In a write. */
  step(project: number): Promise<void>;
}

const CHANGE = "project_id = ? AND kind = ? AND target = ?";

export function createLongChanges(
  database: Database,
  steps: Readonly<Record<LongChangeKind, Step>>,
  isNoted: { value: boolean },
): LongChanges {
  const next = async (project?: number): Promise<LongChange | null> => {
    const of = project === undefined ? "" : "WHERE project_id = ?";
    return (await database.first(
      `SELECT project_id AS project, kind, target, done_to AS "doneTo" FROM long_changes ${of}
       ORDER BY project_id, kind, target LIMIT 1`,
      project === undefined ? [] : [project],
    )) as LongChange | null;
  };
  const forget = ({ project, kind, target }: Omit<LongChange, "doneTo">): void =>
    database.send(`DELETE FROM long_changes WHERE ${CHANGE}`, [project, kind, target]);
  return {
    begin: async ({ project, kind, target }) => {
      forget({ project, kind, target });
      const doneTo = await steps[kind]({ project, kind, target, doneTo: 0 });
      if (doneTo === null) return true;
      database.send("INSERT INTO long_changes (project_id, kind, target, done_to) VALUES (?, ?, ?, ?)", [
        project,
        kind,
        target,
        doneTo,
      ]);
      isNoted.value = true;
      return false;
    },
    forget,
    project: async () => (await next())?.project ?? null,
    step: async (project) => {
      const change = await next(project);
      if (change === null) return;
      const doneTo = await steps[change.kind](change);
      if (doneTo === null) forget(change);
      else
        database.send(`UPDATE long_changes SET done_to = ? WHERE ${CHANGE}`, [
          doneTo,
          change.project,
          change.kind,
          change.target,
        ]);
    },
  };
}

/** Does what `long-changes.ts` has noted, step by step, with the queue's other work between the steps. */
export interface StepLoop {
  /** Begins, unless it runs already or nothing is noted. Cheap. */
  readonly start: () => void;
  /** Resolves once nothing is noted any more; rejects with the error of a step that failed. */
  readonly settle: () => Promise<void>;
}

export interface StepLoopOptions {
  /** True while a change may be noted; the loop itself takes it back. */
  readonly isNoted: { value: boolean };
  /** The project of a change that is noted, in a read: whoever has nothing to do waits for no writer. */
  readonly find: () => Promise<number | null>;
  /** Does one step of that project's, as a transaction of its own. */
  readonly step: (project: number) => Promise<unknown>;
  readonly isClosed: () => boolean;
}

/** A step that fails ends the loop; the next start tries again. */
export function createStepLoop({ isNoted, find, step, isClosed }: StepLoopOptions): StepLoop {
  const state: { running: Promise<void> | null } = { running: null };
  const hasWork = (): boolean => isNoted.value && !isClosed();
  const run = async (): Promise<void> => {
    try {
      while (hasWork()) {
        isNoted.value = false;
        const project = await find().catch((error: unknown) => {
          isNoted.value = true;
          throw error;
        });
        if (project === null) continue;
        isNoted.value = true;
        await step(project);
      }
    } finally {
      state.running = null;
    }
  };
  const settle = (): Promise<void> => {
    if (hasWork()) state.running ??= run();
    return state.running ?? Promise.resolve();
  };
  // `settle` rejects with a failure; the store continues either way.
  return { start: () => void settle().catch(() => undefined), settle };
}
