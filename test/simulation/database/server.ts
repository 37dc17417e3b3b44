/**
 * Connects processes of a world to a real PostgreSQL server whose connections break, which becomes unreachable for
 * hours, and during whose statements a process can die. Simulated time stops while the server works, so real time
 * doesn't affect results.
 */
import { Client } from "pg";

/** Whether the statement or its reply is lost. */
type LostPart = "statement" | "answer";

export interface StatementFault {
  /** Counts down to the statement that fails, inclusive. */
  readonly statements: number;
  /** `COMMIT` counts only commits, because their reply decides the outcome. */
  readonly which: "all" | "COMMIT";
  readonly loses: LostPart;
  /** True kills the process; false only breaks the connection. */
  readonly kills: boolean;
}

export interface Connection {
  readonly pid: number;
  /** Closes the socket without notifying the server. */
  readonly cut: () => void;
}

export class DatabaseServer {
  isOutOfReach = false;
  /** Called when a process dies at a statement. */
  onKill: () => void = () => undefined;
  readonly #connections = new Set<Connection>();
  /** Backends whose connection was cut and that are still running. */
  #cut: number[] = [];
  #fault: StatementFault | null = null;
  #left = 0;
  #busy = 0;
  #idle: (() => void)[] = [];
  readonly #watcher: Client;

  private constructor(watcher: Client) {
    this.#watcher = watcher;
  }

  /** `url` is a database used only by this world; it is emptied. */
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

  /** The fault that applies to this statement, if any. */
  meet(statement: string): StatementFault | null {
    if (this.#fault === null || (this.#fault.which !== "all" && this.#fault.which !== statement)) return null;
    this.#left -= 1;
    if (this.#left > 0) return null;
    const fault = this.#fault;
    this.#fault = null;
    return fault;
  }

  /** Runs `work` in real time while simulated time stops. */
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

  /** Resolves when no real-time work is left. */
  whenIdle(): Promise<void> {
    return this.#busy === 0 ? Promise.resolve() : new Promise((resolve) => void this.#idle.push(resolve));
  }

  add(connection: Connection): void {
    this.#connections.add(connection);
  }

  /** Called when the connection has ended. */
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

  /** Waits until statements sent before the cut are finished or gone. */
  async settleCut(): Promise<void> {
    for (const pid of this.#cut.splice(0)) {
      const asked = { text: "SELECT 1 FROM pg_stat_activity WHERE pid = $1", values: [pid] };
      while ((await this.#watcher.query(asked)).rowCount !== 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}
