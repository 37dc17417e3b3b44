import type { Project } from "../inputs.ts";

export interface ProjectRow extends Project {
  readonly createdAt: number;
  /** Shortest time between two surveys sent by `POST /v1/people.json`; null for no throttling. */
  readonly throttleSeconds: number | null;
}

/** A key as it is shown: never itself. */
export interface KeyRow {
  readonly id: number;
  readonly lastFour: string;
  readonly createdAt: number;
}

export interface Counts {
  readonly people: number;
  readonly responses: number;
}

export interface ProjectRows {
  /** Throws `TakenError`. */
  insert(project: {
    readonly name: string;
    readonly throttleSeconds: number;
    readonly frequencySeconds: number;
  }): Promise<Project>;
  list(): Promise<readonly ProjectRow[]>;
  byId(id: number): Promise<ProjectRow | null>;
  byName(name: string): Promise<ProjectRow | null>;
  setThrottle(project: number, seconds: number | null): Promise<void>;
  insertKey(project: number, key: { readonly hash: string; readonly lastFour: string }): Promise<KeyRow>;
  listKeys(project: number): Promise<readonly KeyRow[]>;
  deleteKey(project: number, id: number): Promise<boolean>;
  /** The project whose key has this hash, and the stored hash. */
  byKeyHash(hash: string): Promise<{ readonly project: Project; readonly hash: string } | null>;
  counts(project: number): Promise<Counts>;
}
