/**
 * `Database` over one connection: what is sent goes out before the next question, and a question waits for its own answer
 * alone. Works that run side by side take the same steps, so their statements meet and go as one.
 */
import type pg from "pg";
import { nextTurn } from "../../../runtime/clock.ts";
import type { Database, SqlRow, SqlValue } from "../sql/database.ts";
import { type StatementTiming, tellIfSlow } from "../slow-statements.ts";
import { createProjectStates, PROJECT_STATE, type ProjectStates } from "../sql/project-states.ts";
import { createStoreRows, type StoreRows, type StoreRowsOptions } from "../sql/store-rows.ts";
import type { SqlParameter } from "./merging.ts";
import { createOutgoingStatements } from "./outgoing-statements.ts";
import { errorKindOf, translateError } from "./postgres-errors.ts";
import type { Statement } from "./statements.ts";

/** One unit of work at a time: a connection, and the rows over it. */
export interface ConnectionSession {
  readonly database: Database;
  readonly states: ProjectStates;
  readonly rows: StoreRows;
  /** Takes a connection for a unit of work. */
  begin(client: pg.PoolClient, options: { readonly writing: boolean; readonly project: number | null }): void;
  /** While true, what is asked waits for what others ask in the same turn of the event loop. */
  together(areTogether: boolean): void;
  /** Sends what waits. */
  flush(): void;
  /** All that `work` sends leaves in one piece. */
  atOnce<Result>(work: () => Result): Result;
  /** A command without parameters or result; the unit fails with it. */
  tell(text: string): void;
  ask(sql: string, values?: readonly SqlValue[]): Promise<SqlRow[]>;
  /** Resolves when all that was sent is done; rejects with the first thing that failed. */
  settle(): Promise<void>;
  /** What failed and cannot be undone by going back to a savepoint; undefined while nothing did. */
  failure(): unknown;
  /** How many changes were sent. */
  changes(): number;
}

export interface ConnectionSessionOptions extends StoreRowsOptions {
  readonly statementOf: (sql: string) => Statement;
  readonly isPrepared: () => boolean;
  readonly timing: StatementTiming;
}

export function createSession(options: ConnectionSessionOptions): ConnectionSession {
  const state = {
    client: null as pg.PoolClient | null,
    writing: false,
    project: null as number | null,
    sent: [] as Promise<unknown>[],
    failure: undefined as unknown,
    changes: 0,
    areTogether: false,
    isFlushing: false,
    answeredMs: 0,
  };
  const note = (error: unknown): void => {
    // What follows a failure fails with it.
    if (!isFollowing(error)) state.failure ??= error;
  };
  const query = async (sql: string, values: readonly SqlParameter[] = []): Promise<pg.QueryResult<SqlRow>> => {
    if (state.client === null) throw new Error("a transaction that has ended was asked");
    refuseNul(values);
    const { name, text } = options.statementOf(sql);
    const parts = options.isPrepared() ? { name, text } : { text };
    const sentMs = options.timing.clock.monotonic();
    try {
      const result = await state.client.query<SqlRow>({ ...parts, values: values as SqlParameter[] });
      // What was sent before it has been answered first.
      tellIfSlow(options.timing, sql, Math.max(sentMs, state.answeredMs));
      state.answeredMs = options.timing.clock.monotonic();
      return result;
    } catch (error) {
      if (errorKindOf(error) !== "fault") note(error);
      throw translateError(error);
    }
  };
  const change = (): void => {
    if (!state.writing) throw new Error("data can be changed only inside Store.write");
    state.changes += 1;
  };
  const keep = (sent: Promise<unknown>): void => void state.sent.push(sent.catch(note));
  const outgoing = createOutgoingStatements(async (sql, values) => (await query(sql, values)).rows, keep);
  const flush = (): void => atOnce(state.client, outgoing.flush);
  /** After what waits. */
  const queryNext = (sql: string, values?: readonly SqlValue[]): ReturnType<typeof query> =>
    atOnce(state.client, () => {
      outgoing.flush();
      return query(sql, values);
    });
  const flushSoon = async (): Promise<void> => {
    if (state.isFlushing) return;
    state.isFlushing = true;
    await nextTurn();
    state.isFlushing = false;
    flush();
  };
  const all = async (sql: string, values: readonly SqlValue[] = []): Promise<SqlRow[]> => {
    const asked = outgoing.ask(sql, values);
    if (state.areTogether) void flushSoon();
    else flush();
    return asked;
  };
  const states = createProjectStates(async (project) => {
    if (state.project !== null) throw new Error(`a write of project ${state.project} changes project ${project}`);
    return (await queryNext(`${PROJECT_STATE} WHERE project_id = ? FOR NO KEY UPDATE`, [project])).rows[0] ?? null;
  });
  const database: Database = {
    get writing() {
      return state.writing;
    },
    all,
    first: async (sql, values) => (await all(sql, values))[0] ?? null,
    run: async (sql, values) => {
      change();
      return (await queryNext(sql, values)).rowCount ?? 0;
    },
    returning: async (sql, values) => {
      change();
      return (await queryNext(sql, values)).rows;
    },
    send: (sql, values = [], how = { isOneRow: false }) => {
      change();
      outgoing.add({ sql, values, ...how });
    },
    state: async (project) => {
      if (!state.writing) throw new Error("data can be changed only inside Store.write");
      return states.of(project);
    },
  };
  const rows = createStoreRows(database, options);
  return {
    database,
    states,
    rows,
    begin: (client, { writing, project }) => {
      Object.assign(state, { client, writing, project, sent: [], failure: undefined, changes: 0 });
      state.areTogether = false;
      outgoing.forget();
      states.forget();
      // What a write that failed has left.
      rows.forget();
    },
    together: (areTogether) => {
      state.areTogether = areTogether;
    },
    flush,
    atOnce: (work) => atOnce(state.client, work),
    tell: (text) => {
      const { client } = state;
      flush();
      if (client !== null) keep(client.query(text));
    },
    ask: (sql, values) => database.all(sql, values),
    settle: async () => {
      flush();
      while (state.sent.length > 0) await Promise.all(state.sent.splice(0));
      if (state.failure !== undefined) throw state.failure;
    },
    failure: () => state.failure,
    changes: () => state.changes,
  };
}

/** All that `work` sends leaves in one piece. */
function atOnce<Result>(client: pg.PoolClient | null, work: () => Result): Result {
  const { stream } = (client as unknown as { connection: { stream: { cork(): void; uncork(): void } } } | null)
    ?.connection ?? { stream: null };
  stream?.cork();
  try {
    return work();
  } finally {
    stream?.uncork();
  }
}

/** The transaction had failed already. */
function isFollowing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "25P02";
}

/** PostgreSQL refuses it too, in other words. */
function refuseNul(values: readonly SqlParameter[]): void {
  for (const value of values) {
    if (Array.isArray(value)) refuseNul(value as readonly SqlValue[]);
    if (typeof value === "string" && value.includes("\0"))
      throw new RangeError("text with a null character cannot be stored");
  }
}
