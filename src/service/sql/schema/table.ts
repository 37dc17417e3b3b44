/**
 * One table of the schema. Every row belongs to a project and is counted from 1 within it, so no id tells anything
 * about another project. Times are Unix seconds, maps and arrays JSON text, booleans 0 or 1. Each list, filter and
 * look-up has an index that begins with the project; tokens are unguessable, and lead to their rows in whichever
 * project.
 */
export interface Table {
  readonly name: string;
  /** `name type`, with `?` where it may be null, and `= value` for its default; `int` has 64 bits. */
  readonly columns: string;
  readonly key: string;
  readonly references?: readonly string[];
  /** Its columns by the index's name; `UNIQUE` before them where no two rows may be alike. */
  readonly indexes?: Readonly<Record<string, string>>;
  /** Its rows lie in the order of the key, where an engine has such tables. */
  readonly isClustered?: boolean;
  /** Settings that PostgreSQL gets for a table whose rows change often. */
  readonly storage?: string;
}

export const OF_PROJECT = "(project_id) REFERENCES projects (id)";
export const OF_PERSON = "(project_id, person_id) REFERENCES people (project_id, id) ON DELETE CASCADE";
export const OF_DIGEST = "(project_id, digest_id) REFERENCES digests (project_id, id) ON DELETE CASCADE";
export const OF_REQUEST = "(project_id, request_id) REFERENCES messages (project_id, id) ON DELETE CASCADE";
