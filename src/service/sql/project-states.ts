/**
 * A write reads the state of its projects once and saves it at the end, so ids ascend in commit order within a project.
 */
import type { Database, ProjectState, SqlRow } from "./database.ts";

/** Used by writes that belong to no project. */
export const NO_PROJECT = 0;

/** The project that a write may change; null for all. */
export function projectToLock(project: number | "none" | "all"): number | null {
  if (project === "all") return null;
  return project === "none" ? NO_PROJECT : project;
}

export const PROJECT_STATE = `SELECT project_id, next_id AS "nextId", clock, version FROM project_state`;

export const NEWEST_WRITE = "SELECT max(clock) AS at FROM project_state";

const SET_STATE = "UPDATE project_state SET next_id = ?, clock = ?, version = ? WHERE project_id = ?";

/** The project was removed, perhaps by another process. */
export class ProjectRemovedError extends Error {
  override readonly name = "ProjectRemovedError";
}

export class ProjectStates {
  readonly #load: (project: number) => Promise<SqlRow | null>;
  // Replaced for each write: V8 keeps the memory of a cleared Map until the next full collection.
  #held = new Map<number, ProjectState>();
  #firstIds = new Map<number, number>();

  constructor(load: (project: number) => Promise<SqlRow | null>) {
    this.#load = load;
  }

  async of(project: number): Promise<ProjectState> {
    const known = this.#held.get(project);
    if (known !== undefined) return known;
    const row = await this.#load(project);
    if (row === null) throw new ProjectRemovedError(`there is no project ${project}`);
    return this.hold(row);
  }

  /** A removed project has no state to lock, so its writes use that of `NO_PROJECT`. */
  async lock(project: number): Promise<void> {
    if (this.#held.has(project)) return;
    const row = await this.#load(project);
    if (row === null) await this.of(NO_PROJECT);
    else this.hold(row);
  }

  hold({ project_id: project, nextId, clock, version }: SqlRow): ProjectState {
    const state = { nextId: Number(nextId), clock: Number(clock), version: Number(version) };
    this.#held.set(Number(project), state);
    this.#firstIds.set(Number(project), state.nextId);
    return state;
  }

  mark(): ReadonlyMap<number, ProjectState> {
    return new Map([...this.#held].map(([project, state]) => [project, { ...state }]));
  }

  restore(mark: ReadonlyMap<number, ProjectState>): void {
    this.#held = new Map(mark);
  }

  end(updatedAt: number) {
    const changes = [...this.#held].map(([project, { nextId, clock, version }]) => ({
      sql: SET_STATE,
      values: [nextId, Math.max(clock, updatedAt), version + 1, project],
    }));
    this.forget();
    return changes;
  }

  forget(): void {
    this.#held = new Map();
    this.#firstIds = new Map();
  }

  isChanged(): boolean {
    return [...this.#held].some(([project, { nextId }]) => nextId !== this.#firstIds.get(project));
  }
}

/** Ids ascend within a project, and reveal nothing about other projects. */
export async function assignId(database: Database, project: number): Promise<number> {
  const state = await database.state(project);
  state.nextId += 1;
  return state.nextId - 1;
}
