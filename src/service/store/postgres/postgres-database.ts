/** `Database` over one connection: what is sent goes out at once, what is asked waits for its own answer alone. */
import type pg from "pg";
import type { Database, SqlRow, SqlValue } from "../sql/database.ts";
import { createProjectStates, PROJECT_STATE, type ProjectStates } from "../sql/project-states.ts";
import { createStoreRows, type StoreRows, type StoreRowsOptions } from "../sql/store-rows.ts";
import { errorKindOf, translateError } from "./postgres-errors.ts";
import type { Statement } from "./statements.ts";

/** One unit of work at a time: a connection, and the rows over it. */
export interface ConnectionSession {
  readonly database: Database;
  readonly states: ProjectStates;
  readonly rows: StoreRows;
  /** Takes a connection for a unit of work. */
  begin(client: pg.PoolClient, options: { readonly writing: boolean; readonly project: number | null }): void;
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
}

export function createSession(options: ConnectionSessionOptions): ConnectionSession {
  const state = {
    client: null as pg.PoolClient | null,
    writing: false,
    project: null as number | null,
    sent: [] as Promise<unknown>[],
    failure: undefined as unknown,
    changes: 0,
  };
  const note = (error: unknown): void => {
    // What follows a failure fails with it.
    if (!isFollowing(error)) state.failure ??= error;
  };
  const query = async (sql: string, values: readonly SqlValue[] = []): Promise<pg.QueryResult<SqlRow>> => {
    if (state.client === null) throw new Error("a transaction that has ended was asked");
    refuseNul(values);
    const { name, text } = options.statementOf(sql);
    const parts = options.isPrepared() ? { name, text } : { text };
    try {
      return await state.client.query<SqlRow>({ ...parts, values: values as SqlValue[] });
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
  const states = createProjectStates(async (project) => {
    if (state.project !== null) throw new Error(`a write of project ${state.project} changes project ${project}`);
    return (await query(`${PROJECT_STATE} WHERE project_id = ? FOR NO KEY UPDATE`, [project])).rows[0] ?? null;
  });
  const database: Database = {
    get writing() {
      return state.writing;
    },
    all: async (sql, values) => (await query(sql, values)).rows,
    first: async (sql, values) => (await query(sql, values)).rows[0] ?? null,
    run: async (sql, values) => {
      change();
      return (await query(sql, values)).rowCount ?? 0;
    },
    returning: async (sql, values) => {
      change();
      return (await query(sql, values)).rows;
    },
    send: (sql, values) => {
      change();
      keep(query(sql, values));
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
      states.forget();
      // What a write that failed has left.
      rows.forget();
    },
    tell: (text) => {
      const { client } = state;
      if (client !== null) keep(client.query(text));
    },
    ask: (sql, values) => database.all(sql, values),
    settle: async () => {
      while (state.sent.length > 0) await Promise.all(state.sent.splice(0));
      if (state.failure !== undefined) throw state.failure;
    },
    failure: () => state.failure,
    changes: () => state.changes,
  };
}

/** The transaction had failed already. */
function isFollowing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "25P02";
}

/** PostgreSQL refuses it too, in other words. */
function refuseNul(values: readonly SqlValue[]): void {
  for (const value of values) {
    if (typeof value === "string" && value.includes("\0"))
      throw new RangeError("text with a null character cannot be stored");
  }
}
