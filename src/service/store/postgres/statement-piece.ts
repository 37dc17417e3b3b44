/**
 * Statements that are sent in one piece and answered in one. The driver alone would describe each of them anew and have
 * each answer sent separately, which is most of the cost of a small statement on both sides.
 */
import { type Connection, Query } from "pg";
import type { SqlRow, SqlValue } from "../sql/database.ts";
import { parserOf } from "./connections.ts";
import type { SqlParameter } from "./merging.ts";
import { isOfServer } from "./postgres-errors.ts";

export interface StatementResult {
  readonly rows: SqlRow[];
  readonly rowCount: number;
  /** The command that was done: `COMMIT` of a transaction that had failed is `ROLLBACK`. */
  readonly command: string;
}

export interface PieceStatement {
  /** Under which the connection keeps it prepared; empty: not at all. */
  readonly name: string;
  readonly text: string;
  /** See `toText`. */
  readonly values: readonly (string | null)[];
  readonly resolve: (result: StatementResult) => void;
  readonly reject: (error: unknown) => void;
}

/** What was sent behind a statement that failed: the server has not looked at it. */
export class SkippedStatement extends Error {
  override readonly name = "SkippedStatement";
}

interface Column {
  readonly name: string;
  readonly parse: (text: string) => SqlValue;
}

/** What each connection has prepared, by name. */
const prepared = new WeakMap<Connection, Map<string, readonly Column[]>>();

/** Given to a client in place of a query's text. */
export class StatementPiece extends Query {
  readonly #statements: readonly PieceStatement[];
  readonly #onEnd: () => void;
  #known = new Map<string, readonly Column[]>();
  #at = 0;
  #columns: readonly Column[] | null = null;
  #rows: SqlRow[] = [];

  /** `onEnd` is called when all of them are done. */
  constructor(statements: readonly PieceStatement[], onEnd: () => void) {
    super("");
    this.#statements = statements;
    this.#onEnd = onEnd;
  }

  override submit = (connection: Connection): void => {
    this.#known = prepared.get(connection) ?? new Map();
    prepared.set(connection, this.#known);
    connection.stream.cork();
    for (const statement of this.#statements) send(connection, statement, this.#known.has(statement.name));
    connection.sync();
    connection.stream.uncork();
  };

  handleRowDescription({ fields }: { readonly fields: readonly { name: string; dataTypeID: number }[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, parse: parserOf(dataTypeID) }));
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, SqlValue> = {};
    this.#columns ??= this.#known.get(this.#statements[this.#at]?.name ?? "") ?? [];
    for (const [at, { name, parse }] of this.#columns.entries()) {
      const text = fields[at] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    this.#rows.push(row);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const statement = this.#statements[this.#at];
    if (statement === undefined) return;
    const [command = "", ...counts] = text.split(" ");
    if (statement.name !== "" && !this.#known.has(statement.name)) this.#known.set(statement.name, this.#columns ?? []);
    const rows = this.#rows;
    this.#at += 1;
    this.#columns = null;
    this.#rows = [];
    statement.resolve({ rows, rowCount: Number(counts.at(-1) ?? 0), command });
  }

  handleError(error: Error): void {
    const [failed, ...skipped] = this.#statements.slice(this.#at);
    this.#at = this.#statements.length;
    failed?.reject(error);
    // An error that is not from the server concerns the connection, and so all of its statements.
    const why = isOfServer(error) ? new SkippedStatement("a statement before it failed", { cause: error }) : error;
    for (const { reject } of skipped) reject(why);
  }

  handleReadyForQuery(): void {
    this.#onEnd();
  }
}

function send(connection: Connection, { name, text, values }: PieceStatement, isKnown: boolean): void {
  if (!isKnown) {
    // A statement may have been prepared before it failed; closing one that does not exist does no harm.
    if (name !== "") connection.close({ type: "S", name }, false);
    connection.parse({ name, text, types: [] }, false);
  }
  connection.bind({ statement: name, values: values as (string | null)[] }, false);
  if (!isKnown) connection.describe({ type: "P" }, false);
  connection.execute(null, false);
}

/** A parameter as PostgreSQL reads it. Throws RangeError for a null character, which it would refuse in other words. */
export function toText(value: SqlParameter): string | null {
  if (value === null || typeof value === "string") {
    if (value?.includes("\0") === true) throw new RangeError("text with a null character cannot be stored");
    return value;
  }
  return typeof value === "number" ? String(value) : `{${value.map(toItem).join(",")}}`;
}

function toItem(value: SqlValue): string {
  const text = toText(value);
  return typeof value === "string" ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : (text ?? "NULL");
}
