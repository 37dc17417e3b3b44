/**
 * A real PostgreSQL server as the processes of a world meet it: its connections break off, it is out of reach for hours, and
 * a process dies at one of its statements. The world waits for whatever the server is at, so real time decides nothing.
 */
import { Client } from "pg";

/** Where a statement is lost: it never arrives, or its answer does not. */
type LostPart = "statement" | "answer";

export interface StatementFault {
  /** Statements until it happens, the one that it happens to included. */
  readonly statements: number;
  /** Only these are counted: the answer to COMMIT alone tells whether anything was done. */
  readonly which: "all" | "COMMIT";
  readonly loses: LostPart;
  /** The process dies there; else its connection breaks off. */
  readonly kills: boolean;
}

/** A connection of a process. */
export interface Connection {
  readonly pid: number;
  /** Breaks it off without a word to the server. */
  readonly cut: () => void;
}

export class DatabaseServer {
  /** No connection can be made. */
  isOutOfReach = false;
  /** Called when a process dies at a statement. */
  onKill: () => void = () => undefined;
  readonly #connections = new Set<Connection>();
  /** Backends whose connection was cut, until they are gone with all that they still did. */
  #cut: number[] = [];
  #fault: StatementFault | null = null;
  #left = 0;
  #busy = 0;
  #idle: (() => void)[] = [];
  readonly #watcher: Client;

  private constructor(watcher: Client) {
    this.#watcher = watcher;
  }

  /** `url` is that of a database that the world has for itself; what is in it goes. */
  static async open(url: string): Promise<DatabaseServer> {
    const watcher = new Client({ connectionString: url });
    await watcher.connect();
    await watcher.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    return new DatabaseServer(watcher);
  }

  async close(): Promise<void> {
    this.cutAll();
    await this.settleCut();
    await this.#watcher.end();
  }

  plan(fault: StatementFault | null): void {
    this.#fault = fault;
    this.#left = fault?.statements ?? 0;
  }

  /** The fault that meets this statement, if one does. */
  meet(statement: string): StatementFault | null {
    if (this.#fault === null || (this.#fault.which !== "all" && this.#fault.which !== statement)) return null;
    this.#left -= 1;
    if (this.#left > 0) return null;
    const fault = this.#fault;
    this.#fault = null;
    return fault;
  }

  /** Runs what takes real time, which the world waits for. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#busy += 1;
    try {
      return await work();
    } finally {
      this.#busy -= 1;
      if (this.#busy === 0) for (const tell of this.#idle.splice(0)) tell();
    }
  }

  isBusy(): boolean {
    return this.#busy > 0;
  }

  /** Resolves when nothing takes real time any more. */
  whenIdle(): Promise<void> {
    return this.#busy === 0 ? Promise.resolve() : new Promise((resolve) => void this.#idle.push(resolve));
  }

  add(connection: Connection): void {
    this.#connections.add(connection);
  }

  /** It has ended. */
  forget(connection: Connection): void {
    this.#connections.delete(connection);
  }

  cutAll(): void {
    for (const connection of this.#connections) {
      this.#connections.delete(connection);
      this.#cut.push(connection.pid);
      connection.cut();
    }
  }

  /** What was sent over a connection before it was cut is done, or never will be. */
  async settleCut(): Promise<void> {
    for (const pid of this.#cut.splice(0)) {
      const asked = { text: "SELECT 1 FROM pg_stat_activity WHERE pid = $1", values: [pid] };
      while ((await this.#watcher.query(asked)).rowCount !== 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}
