/** The seam between engines. SQL is the same for all: parameters are `?`, and PostgreSQL translates `json_quote`. */
import type { CountChanges } from "./lists/count-changes.ts";
import type { SqlRow, SqlValue } from "./sql-values.ts";

export type { SqlRow, SqlValue };

export function numberOrNull(value: SqlValue | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}

export function textOrNull(value: SqlValue | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** A unique index refused a row; `columns` names the index or its columns, such as `people.email_key`. */
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
  /** Counts the project's writes. */
  version: number;
}

export interface Database {
  /** True in a write job. */
  readonly writing: boolean;
  /** Of the running write. */
  readonly counts: CountChanges;
  all(sql: string, values?: readonly SqlValue[]): Promise<SqlRow[]>;
  first(sql: string, values?: readonly SqlValue[]): Promise<SqlRow | null>;
  /** Returns how many rows it changed. Rejects with `UniqueViolation`. */
  run(sql: string, values?: readonly SqlValue[]): Promise<number>;
  returning(sql: string, values?: readonly SqlValue[]): Promise<SqlRow[]>;
  /** A change without a result. It is done before the job's next query; the job fails if it does. */
  send(sql: string, values?: readonly SqlValue[]): void;
  /** What is assigned to it is stored at the end of the write. */
  state(project: number): Promise<ProjectState>;
}

export interface Session {
  /** Of the running job, Unix seconds. */
  now: number;
  updatedAt: number;
}

/** As many as one statement looks for, so that a text is prepared once. */
const IN_MAX = 50;

/** The rows whose column, at the end of `sql` as in `… AND id IN`, has one of many values. */
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
    // The last one again does no harm.
    while (values.length < IN_MAX) values.push(last);
    rows.push(...(await database.all(text, [...before, ...values])));
  }
  return rows;
}
