/** `Database` for a transaction on one connection. Statements are sent in call order. */
import type { PoolClient, QueryConfig, QueryResult } from "pg";
import type { Database, SqlRow, SqlValue } from "../../sql/database.ts";
import { CountChanges } from "../../sql/lists/count-changes.ts";
import { PROJECT_STATE, ProjectStates } from "../../sql/project-states.ts";
import { refuseNul, refuseOutsideWrite } from "../sql/guards.ts";
import type { JobDatabase } from "../sql/run-jobs.ts";
import { noteStatement, type StatementWatch } from "../slow-statements.ts";
import { classifyError, translateError } from "./postgres-errors.ts";
import type { Statement } from "./statements.ts";

export interface StatementOptions {
  readonly statementOf: (sql: string) => Statement;
  readonly isPrepared: () => boolean;
  readonly watch: StatementWatch;
}

export interface TransactionKind {
  readonly writing: boolean;
  readonly project: number | null;
  /** How long to wait for a response, in milliseconds; null is unlimited. */
  readonly answerMs: number | null;
}

export const LOCK_STATE = `${PROJECT_STATE} WHERE project_id = ? FOR NO KEY UPDATE`;

export class TransactionDatabase implements Database, JobDatabase {
  readonly writing: boolean;
  readonly states: ProjectStates;
  readonly counts = new CountChanges();
  readonly #client: PoolClient;
  readonly #kind: TransactionKind;
  readonly #options: StatementOptions;
  #sent: Promise<unknown>[] = [];
  /** A failure that no savepoint can undo: the transaction is unusable, or an unawaited change failed. */
  #failure: { readonly error: unknown } | null = null;
  #isChanged = false;
  #answeredMs = 0;
  /** Null if there is no savepoint, so an error undoes the whole transaction. */
  #savepoint: "due" | "set" | null = null;

  constructor(client: PoolClient, kind: TransactionKind, options: StatementOptions) {
    this.writing = kind.writing;
    this.#client = client;
    this.#kind = kind;
    this.#options = options;
    this.states = new ProjectStates((project) => this.#lockState(project));
  }

  isChanged(): boolean {
    return this.#isChanged || this.states.isChanged();
  }

  async all(sql: string, values?: readonly SqlValue[]): Promise<SqlRow[]> {
    return (await this.#run(sql, values)).rows;
  }

  async first(sql: string, values?: readonly SqlValue[]): Promise<SqlRow | null> {
    return (await this.all(sql, values))[0] ?? null;
  }

  async run(sql: string, values?: readonly SqlValue[]): Promise<number> {
    this.#beginChange();
    return (await this.#run(sql, values)).rowCount ?? 0;
  }

  async returning(sql: string, values?: readonly SqlValue[]): Promise<SqlRow[]> {
    this.#beginChange();
    return this.all(sql, values);
  }

  send(sql: string, values?: readonly SqlValue[]): void {
    // Checks the values now: if they were rejected later, only this change would be lost and the rest committed.
    refuseNul(values ?? []);
    this.#beginChange();
    this.#track(this.#run(sql, values));
  }

  async state(project: number) {
    refuseOutsideWrite(this.writing);
    return this.states.of(project);
  }

  /** Runs a transaction command and returns what the server did: COMMIT of a failed transaction returns ROLLBACK. */
  async command(text: string): Promise<string> {
    return (await this.#ask({ text }, text)).command;
  }

  sendControl(text: string): void {
    this.#track(this.command(text));
  }

  beginJob(): void {
    this.#savepoint = "due";
  }

  async undoJob(error: unknown): Promise<unknown> {
    await this.settle();
    if (this.#savepoint === "set") await this.command("ROLLBACK TO job");
    return error;
  }

  async settle(): Promise<void> {
    await Promise.all(this.#sent.splice(0));
    if (this.#failure !== null) throw this.#failure.error;
  }

  #track(work: Promise<unknown>): void {
    this.#sent.push(work.catch((error: unknown) => this.#note(error)));
  }

  #note(error: unknown): void {
    this.#failure ??= { error };
  }

  #beginChange(): void {
    refuseOutsideWrite(this.writing);
    if (this.#savepoint === "due") {
      this.#savepoint = "set";
      this.sendControl("SAVEPOINT job");
    }
    this.#isChanged = true;
  }

  async #lockState(project: number): Promise<SqlRow | null> {
    const named = this.#kind.project;
    // The transaction began by trying to lock this row, and found that it doesn't exist.
    if (named === project) return null;
    if (named !== null) throw new Error(`a write of project ${named} changes project ${project}`);
    return this.first(LOCK_STATE, [project]);
  }

  async #run(sql: string, values: readonly SqlValue[] = []): Promise<QueryResult<SqlRow>> {
    const { name, text } = this.#options.statementOf(sql);
    return this.#ask({ ...(this.#options.isPrepared() ? { name } : {}), text, values: [...values] }, sql);
  }

  async #ask(query: QueryConfig, sql: string): Promise<QueryResult<SqlRow>> {
    const { watch } = this.#options;
    const { answerMs } = this.#kind;
    const limited = { ...query, ...(answerMs === null ? {} : { query_timeout: answerMs }) };
    const sentMs = watch.clock.monotonic();
    try {
      refuseNul(query.values ?? []);
      return await this.#client.query<SqlRow>(limited);
    } catch (error) {
      const isUndoable = classifyError(error) === "fault" && this.#savepoint !== "due";
      if (!isUndoable) this.#note(error);
      throw translateError(error);
    } finally {
      // The server responds in order, so it didn't start this statement before it had answered the previous one.
      noteStatement(watch, Math.max(sentMs, this.#answeredMs), sql);
      this.#answeredMs = watch.clock.monotonic();
    }
  }
}
