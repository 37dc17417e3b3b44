/**
 * A table of the schema. Each row belongs to a project and is numbered within it, so ids reveal nothing about other
 * projects. Times are Unix seconds, maps and arrays JSON text, booleans 0 or 1. Each list, filter and look-up has an
 * index that begins with the project, except for unguessable tokens, which find rows of any project.
 */
export interface Table {
  readonly name: string;
  /** `name type`, with `?` if nullable and `= value` for a default; `int` has 64 bits. */
  readonly columns: string;
  readonly key: string;
  readonly references?: readonly string[];
  /** Columns by index name; for a unique index, `UNIQUE` precedes them. */
  readonly indexes?: Readonly<Record<string, string>>;
  /** Stores rows in key order, if the engine supports it. */
  readonly isClustered?: boolean;
  /** PostgreSQL storage parameters, for tables that are updated often. */
  readonly storage?: string;
}

export const OF_PROJECT = "(project_id) REFERENCES projects (id)";
export const OF_PERSON = "(project_id, person_id) REFERENCES people (project_id, id) ON DELETE CASCADE";
export const OF_DIGEST = "(project_id, digest_id) REFERENCES digests (project_id, id) ON DELETE CASCADE";
export const OF_REQUEST = "(project_id, request_id) REFERENCES messages (project_id, id) ON DELETE CASCADE";
