/** What both engines implement. They run the same SQL, with `?` for parameters; PostgreSQL translates `json_quote`. */
import type { CountChanges } from "./lists/count-changes.ts";
import type { SqlRow, SqlValue } from "./sql-values.ts";

export type { SqlRow, SqlValue };

export function numberOrNull(value: SqlValue | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}

export function textOrNull(value: SqlValue | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** A unique index rejected a row; `columns` is the index's name or its columns, such as `people.email_key`. */
export class UniqueViolation extends Error {
  override readonly name = "UniqueViolation";
  readonly columns: string;

  constructor(columns: string, options: ErrorOptions) {
    super(`not unique: ${columns}`, options);
    this.columns = columns;
  }
}

export interface ProjectState {
  nextId: number;
  /** The newest `updatedAt` of the project's writes, Unix seconds. */
  clock: number;
  version: number;
}

export interface Database {
  readonly writing: boolean;
  readonly counts: CountChanges;
  all(sql: string, values?: readonly SqlValue[]): Promise<SqlRow[]>;
  first(sql: string, values?: readonly SqlValue[]): Promise<SqlRow | null>;
  /** Returns the number of changed rows. Rejects with `UniqueViolation`. */
  run(sql: string, values?: readonly SqlValue[]): Promise<number>;
  returning(sql: string, values?: readonly SqlValue[]): Promise<SqlRow[]>;
  /**
   * Queues a change without waiting for its result; it runs before the job's next query. If it fails, so does the job.
   */
  send(sql: string, values?: readonly SqlValue[]): void;
  /** The state of a project; assignments to it are saved at the end of the write. */
  state(project: number): Promise<ProjectState>;
}

export interface Session {
  now: number;
  updatedAt: number;
}

/** The number of values per statement, fixed so that the statement is prepared once. */
const IN_MAX = 50;

/** Selects rows by any number of values; `sql` ends with `… AND id IN`. */
export async function allIn(
  database: Database,
  sql: string,
  before: readonly SqlValue[],
  wanted: readonly SqlValue[],
): Promise<SqlRow[]> {
  const text = `${sql} (${Array.from({ length: IN_MAX }, () => "?").join(", ")})`;
  const rows: SqlRow[] = [];
  for (let at = 0; at < wanted.length; at += IN_MAX) {
    const values = wanted.slice(at, at + IN_MAX);
    const [last = null] = values.slice(-1);
    // Pads with the last value, because the statement takes a fixed number of values.
    while (values.length < IN_MAX) values.push(last);
    rows.push(...(await database.all(text, [...before, ...values])));
  }
  return rows;
}
