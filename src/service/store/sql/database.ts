/**
 * The database that rows need. All of an engine's answers are promises: one engine computes them at once, another has
 * them sent over a wire. The SQL is one text for every engine: a parameter is `?`, and a row is rendered as JSON by
 * `json_quote` and `concat`, which an engine that has another word for one of them translates.
 */
export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** A value of a row that may be absent. */
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

/** One row of `project_state`. */
export interface ProjectState {
  nextId: number;
  /** The newest `updatedAt` of the project's writes, Unix seconds. */
  clock: number;
  /** Counts the project's writes. */
  version: number;
}

export interface Database {
  /** True while changes are allowed, as they are in a write job. */
  readonly writing: boolean;
  all(sql: string, values?: readonly SqlValue[]): Promise<SqlRow[]>;
  /** The first row of `all`; null when there is none. */
  first(sql: string, values?: readonly SqlValue[]): Promise<SqlRow | null>;
  /** Changes data and returns how many rows it changed. Rejects with `UniqueViolation`. */
  run(sql: string, values?: readonly SqlValue[]): Promise<number>;
  /** Changes data and returns the rows of its RETURNING clause. */
  returning(sql: string, values?: readonly SqlValue[]): Promise<SqlRow[]>;
  /**
   * A change whose result is not needed and that no rule lets fail. It takes effect before whatever the job asks next;
   * the job ends only when it is done, and fails with it.
   */
  send(sql: string, values?: readonly SqlValue[]): void;
  /** The state of a project that the running write may change: what is assigned to it is stored at the write's end. */
  state(project: number): Promise<ProjectState>;
}

/** The state that the running job's rows share. */
export interface Session {
  /** The running job's `now` and `updatedAt`, Unix seconds. */
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
