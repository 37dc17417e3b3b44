/** What a unit of work has still to send: statements of one text go together. */
import type { SqlRow, SqlValue } from "../sql/database.ts";
import { MERGED_AT, mergeInserts, mergeSelects, mergeUpdates, type SqlParameter } from "./merging.ts";

type Values = readonly SqlValue[];
type Query = (sql: string, values: readonly SqlParameter[]) => Promise<SqlRow[]>;

interface Change {
  readonly sql: string;
  readonly values: Values;
  readonly isOneRow: boolean;
}

interface Question {
  readonly values: Values;
  readonly resolve: (rows: SqlRow[] | Promise<SqlRow[]>) => void;
}

export interface OutgoingStatements {
  /** A change; `isOneRow` where no other one of its text changes the same row. */
  readonly add: (change: Change) => void;
  /** Asked at the next `flush`, after the changes. */
  readonly ask: (sql: string, values: Values) => Promise<SqlRow[]>;
  /** Sends what waits, in order. */
  readonly flush: () => void;
  readonly forget: () => void;
}

/** `query` sends at once; `keep` hears how a change ends. */
export function createOutgoingStatements(query: Query, keep: (sent: Promise<unknown>) => void): OutgoingStatements {
  let changes: Change[] = [];
  let questions = new Map<string, Question[]>();
  const send = (some: readonly Change[]): void => {
    const [first] = some;
    if (first === undefined) return;
    const { sql } = first;
    const rows = some.map(({ values }) => values);
    const merged = some.length === 1 ? null : (mergeInserts(sql, rows) ?? oneUpdate(some, rows));
    for (const one of merged ?? some) keep(query(one.sql, one.values));
  };
  const put = (sql: string, asked: readonly Question[]): void => {
    const merged =
      asked.length === 1
        ? null
        : mergeSelects(
            sql,
            asked.map(({ values }) => values),
          );
    if (merged === null) {
      for (const { values, resolve } of asked) resolve(query(sql, values));
      return;
    }
    const found = query(merged.sql, merged.values).then((rows) => deal(rows, asked.length));
    for (const [at, { resolve }] of asked.entries()) resolve(found.then((dealt) => dealt[at] ?? []));
  };
  return {
    add: (change) => void changes.push(change),
    ask: (sql, values) =>
      new Promise((resolve) => {
        const known = questions.get(sql) ?? [];
        known.push({ values, resolve });
        questions.set(sql, known);
      }),
    flush: () => {
      const [sent, asked] = [changes, questions];
      changes = [];
      questions = new Map();
      for (const some of toRuns(sent)) send(some);
      for (const [sql, some] of asked) put(sql, some);
    },
    forget: () => {
      changes = [];
      questions = new Map();
    },
  };
}

function oneUpdate(
  some: readonly Change[],
  rows: readonly Values[],
): { sql: string; values: readonly SqlParameter[] }[] | null {
  const merged = some.every(({ isOneRow }) => isOneRow) ? mergeUpdates(some[0]?.sql ?? "", rows) : null;
  return merged === null ? null : [merged];
}

/** Neighbours of one text. */
function toRuns(changes: readonly Change[]): readonly (readonly Change[])[] {
  const runs: Change[][] = [];
  for (const change of changes) {
    const run = runs.at(-1);
    if (run?.[0]?.sql === change.sql) run.push(change);
    else runs.push([change]);
  }
  return runs;
}

/** The rows of each question. */
function deal(rows: readonly SqlRow[], count: number): SqlRow[][] {
  const dealt: SqlRow[][] = Array.from({ length: count }, () => []);
  for (const { [MERGED_AT]: at, ...row } of rows) dealt[Number(at) - 1]?.push(row);
  return dealt;
}
