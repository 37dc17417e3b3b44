/**
 * The projects that a write changes, as it knows them: each has one row, read when the write begins and written once at
 * its end. Ids and times are counted in memory meanwhile, so that within a project they rise in the order of commits.
 */
import type { ProjectState, SqlRow, SqlValue } from "./database.ts";

/** The row of writes that name no project. No project has its id. */
export const NO_PROJECT = 0;

/** The row of what a write may change; null for all of them. */
export function stateOf(project: number | "none" | "all"): number | null {
  if (project === "all") return null;
  return project === "none" ? NO_PROJECT : project;
}

export interface ProjectStates {
  /** Of a project that the write may change. Rejects when there is none. */
  readonly of: (project: number) => Promise<ProjectState>;
  /** Keeps rows that the write has read. */
  readonly hold: (rows: readonly SqlRow[]) => void;
  /** The present state, to be given to `restore` when a job of the write is undone. */
  readonly mark: () => ReadonlyMap<number, ProjectState>;
  readonly restore: (mark: ReadonlyMap<number, ProjectState>) => void;
  /** The changes that store what is held, and the write's `updatedAt`. Forgets it. */
  readonly end: (updatedAt: number) => readonly { readonly sql: string; readonly values: readonly SqlValue[] }[];
  readonly forget: () => void;
  /** True when an id was taken. */
  readonly isChanged: () => boolean;
}

export const PROJECT_STATE = `SELECT project_id, next_id AS "nextId", clock, version FROM project_state`;

/** Of all projects. */
export const NEWEST_WRITE = "SELECT max(clock) AS at FROM project_state";

const SET_STATE = "UPDATE project_state SET next_id = ?, clock = ?, version = ? WHERE project_id = ?";

/** `load` reads a row that the write has not read yet; it resolves with null where there is none. */
export function createProjectStates(load: (project: number) => Promise<SqlRow | null>): ProjectStates {
  // Replaced for each write: V8 keeps what a cleared Map held until the next full collection.
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
