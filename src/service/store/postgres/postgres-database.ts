/**
 * `Database` over one connection: changes leave before the next question, and a question waits for its own answer
 * alone. Jobs that run side by side take the same steps, so their statements can be merged.
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
import {
  type PieceStatement,
  SkippedStatement,
  StatementPiece,
  type StatementResult,
  toText,
} from "./statement-piece.ts";
import type { Statement } from "./statements.ts";

/** One unit of work at a time: a connection, and the rows over it. */
export interface ConnectionSession {
  readonly database: Database;
  readonly states: ProjectStates;
  readonly rows: StoreRows;
  /** Takes a connection for a unit of work. */
  begin(client: pg.PoolClient, options: { readonly writing: boolean; readonly project: number | null }): void;
  /** Answers later questions from those of `work`, where they are the same and nothing was changed since. */
  ahead(work: () => void): void;
  /** While true, what is asked waits for what others ask in the same turn of the event loop. */
  together(areTogether: boolean): void;
  /** Sends what waits. */
  flush(): void;
  /** All that `work` sends leaves in one piece. */
  atOnce<Result>(work: () => Result): Result;
  /** A command without parameters or result, to leave with what is sent next; the unit fails with it. */
  tell(text: string): void;
  /** Sent at once, after what waits; resolves with the command that was done. */
  command(text: string): Promise<string>;
  ask(sql: string, values?: readonly SqlValue[]): Promise<SqlRow[]>;
  /** Resolves when all that was sent is done; rejects with the first thing that failed. */
  settle(): Promise<void>;
  /** The failure that no savepoint can undo; undefined while there is none. */
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
    /** The statements of the piece that is being put together. */
    piece: [] as PieceStatement[],
    pieceDepth: 0,
    isAhead: false,
  };
  /**
   * By text, then by values. Replaced, never cleared: V8 keeps what a cleared Map held until the next full collection.
   */
  let ahead = new Map<string, Map<string, Promise<SqlRow[]>>>();
  const note = (error: unknown): void => {
    // What follows a failure fails with it.
    if (!isFollowing(error)) state.failure ??= error;
  };
  const { timing } = options;
  const leave = (statements: readonly PieceStatement[]): void => {
    const sentMs = timing.clock.monotonic();
    const onEnd = (): void => {
      // The server answers the pieces in order.
      const sqls = statements.map(({ text }) => text);
      tellIfSlow(timing, Math.max(sentMs, state.answeredMs), sqls);
      state.answeredMs = timing.clock.monotonic();
    };
    state.client?.query(new StatementPiece(statements, onEnd));
  };
  /** Statements that `work` sends wait until something else leaves. */
  const together = <Result>(work: () => Result): Result => {
    state.pieceDepth += 1;
    try {
      return work();
    } finally {
      state.pieceDepth -= 1;
    }
  };
  /** All that `work` sends leaves in one piece. */
  const atOnce = <Result>(work: () => Result): Result => {
    try {
      return together(work);
    } finally {
      const statements = state.pieceDepth === 0 ? state.piece.splice(0) : [];
      if (statements.length > 0) leave(statements);
    }
  };
  const query = async (sql: string, values: readonly SqlParameter[] = []): Promise<StatementResult> => {
    if (state.client === null) throw new Error("a transaction that has ended was asked");
    const { name, text } = options.statementOf(sql);
    const parts = { name: options.isPrepared() ? name : "", text, values: values.map(toText) };
    try {
      return await new Promise((resolve, reject) => {
        atOnce(() => state.piece.push({ resolve, reject, ...parts }));
      });
    } catch (error) {
      if (errorKindOf(error) !== "fault") note(error);
      throw translateError(error);
    }
  };
  const change = (): void => {
    if (!state.writing) throw new Error("data can be changed only inside Store.write");
    state.changes += 1;
    if (ahead.size > 0) ahead = new Map();
  };
  const keep = (sent: Promise<unknown>): void => void state.sent.push(sent.catch(note));
  const outgoing = createOutgoingStatements(async (sql, values) => (await query(sql, values)).rows, keep);
  const flush = (): void => atOnce(outgoing.flush);
  /** After what waits. */
  const queryNext = (
    sql: string,
    values?: readonly SqlValue[],
    leaving: typeof atOnce = atOnce,
  ): Promise<StatementResult> =>
    leaving(() => {
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
    const key = state.isAhead || ahead.size > 0 ? values.join("\0") : "";
    const known = ahead.get(sql)?.get(key);
    if (known !== undefined) return known;
    const asked = outgoing.ask(sql, values);
    if (state.isAhead) ahead.set(sql, (ahead.get(sql) ?? new Map<string, Promise<SqlRow[]>>()).set(key, asked));
    else if (state.areTogether) void flushSoon();
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
      return (await queryNext(sql, values)).rowCount;
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
      Object.assign(state, { client, writing, project, sent: [], failure: undefined, changes: 0, piece: [] });
      state.areTogether = false;
      outgoing.forget();
      ahead = new Map();
      states.forget();
      // What a write that failed has left.
      rows.forget();
    },
    ahead: (work) => {
      state.isAhead = true;
      work();
      state.isAhead = false;
      flush();
    },
    together: (areTogether) => {
      state.areTogether = areTogether;
    },
    flush,
    atOnce,
    tell: (text) => keep(queryNext(text, [], together)),
    command: async (text) => (await queryNext(text)).command,
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

/** The transaction had failed already. */
function isFollowing(error: unknown): boolean {
  return error instanceof SkippedStatement || (error instanceof Error && "code" in error && error.code === "25P02");
}
