/**
 * State of the projects that a write changes: one row each, read when the write begins and saved once at its end. Ids
 * and times are assigned in memory in between, so within a project they ascend in commit order.
 */
import type { ProjectState, SqlRow, SqlValue } from "./database.ts";

/** The row of writes that belong to no project. */
export const NO_PROJECT = 0;

/** The project that a write may change; null for all. */
export function projectToLock(project: number | "none" | "all"): number | null {
  if (project === "all") return null;
  return project === "none" ? NO_PROJECT : project;
}

export interface ProjectStates {
  readonly of: (project: number) => Promise<ProjectState>;
  readonly hold: (rows: readonly SqlRow[]) => void;
  /** A snapshot for `restore`, to undo a job of the write. */
  readonly mark: () => ReadonlyMap<number, ProjectState>;
  readonly restore: (mark: ReadonlyMap<number, ProjectState>) => void;
  /** Returns the changes to save, and the write's `updatedAt`, and forgets everything. */
  readonly end: (updatedAt: number) => readonly { readonly sql: string; readonly values: readonly SqlValue[] }[];
  readonly forget: () => void;
  readonly isChanged: () => boolean;
}

export const PROJECT_STATE = `SELECT project_id, next_id AS "nextId", clock, version FROM project_state`;

export const NEWEST_WRITE = "SELECT max(clock) AS at FROM project_state";

const SET_STATE = "UPDATE project_state SET next_id = ?, clock = ?, version = ? WHERE project_id = ?";

export function createProjectStates(load: (project: number) => Promise<SqlRow | null>): ProjectStates {
  // Replaced for each write: V8 keeps the memory of a cleared Map until the next full collection.
  let held = new Map<number, ProjectState>();
  let firstIds = new Map<number, number>();
  const forget = (): void => {
    held = new Map();
    firstIds = new Map();
  };
  const hold = (row: SqlRow): ProjectState => {
    const { project_id: project, nextId, clock, version } = row;
    const state = { nextId: Number(nextId), clock: Number(clock), version: Number(version) };
    held.set(Number(project), state);
    firstIds.set(Number(project), state.nextId);
    return state;
  };
  return {
    of: async (project) => {
      const known = held.get(project);
      if (known !== undefined) return known;
      const row = await load(project);
      if (row === null) throw new Error(`there is no project ${project}`);
      return hold(row);
    },
    hold: (rows) => {
      for (const row of rows) hold(row);
    },
    mark: () => new Map([...held].map(([project, state]) => [project, { ...state }])),
    restore: (mark) => {
      held = new Map(mark);
    },
    end: (updatedAt) => {
      const changes = [...held].map(([project, { nextId, clock, version }]) => ({
        sql: SET_STATE,
        values: [nextId, Math.max(clock, updatedAt), version + 1, project],
      }));
      forget();
      return changes;
    },
    forget,
    isChanged: () => [...held].some(([project, { nextId }]) => nextId !== firstIds.get(project)),
  };
}
