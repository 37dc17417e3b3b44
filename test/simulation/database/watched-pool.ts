/** The driver's pool; each statement can meet a fault. */
import type { Socket } from "node:net";
import { Client, Pool, type PoolConfig } from "pg";
import type { Connection, DatabaseServer, StatementFault } from "./server.ts";

/** Ends with its process. */
export interface WatchedPool {
  readonly pool: Pool;
  readonly kill: () => void;
}

interface Process {
  readonly server: DatabaseServer;
  isDead: boolean;
}

/** A single connection, so that the seed determines the order of statements. */
const CONNECTIONS = 1;

export function createWatchedPool(config: PoolConfig, server: DatabaseServer): WatchedPool {
  const process: Process = { server, isDead: false };
  class ProcessClient extends WatchedClient {
    override readonly process = process;
  }
  return { pool: new Pool({ ...config, max: CONNECTIONS, Client: ProcessClient }), kill: () => die(process) };
}

function die(process: Process): void {
  process.isDead = true;
  process.server.cutAll();
}

type Told = (error: Error | null) => void;
type Query = (...args: unknown[]) => Promise<unknown>;

abstract class WatchedClient extends Client {
  abstract readonly process: Process;

  override connect(): Promise<never>;
  override connect(callback: Told): void;
  override connect(callback: Told = () => undefined): Promise<never> {
    const { server } = this.process;
    const connecting = server.during(async () => {
      if (this.process.isDead || server.isOutOfReach) throw new Refused();
      await server.settleCut();
      await super.connect();
      server.add(this.#toConnection());
    });
    void tell(connecting, callback);
    return connecting as Promise<never>;
  }

  /** Always returns a promise: the service doesn't use callbacks. */
  override query(...args: unknown[]): never {
    return this.process.server.during(() => this.#meet(args)) as never;
  }

  override end(callback?: (error: Error) => void): Promise<void> {
    const ending = this.process.server.during(() => super.end());
    if (callback !== undefined) void tell(ending, callback as Told);
    return ending;
  }

  async #meet(args: unknown[]): Promise<unknown> {
    if (this.process.isDead) throw new Lost();
    const [query] = args as [string | { readonly text: string }];
    const fault = this.process.server.meet(typeof query === "string" ? query : query.text);
    if (fault?.loses === "statement") this.#lose(fault);
    const result = await (super.query as unknown as Query).apply(this, args);
    if (fault?.loses === "answer") this.#lose(fault);
    if (fault !== null) throw new Lost();
    return result;
  }

  #lose({ kills }: StatementFault): void {
    const { server } = this.process;
    if (!kills) return server.cutAll();
    die(this.process);
    server.onKill();
  }

  #toConnection(): Connection {
    const { server } = this.process;
    const ended = new Promise<void>((resolve) => void this.once("end", resolve));
    const connection = {
      pid: (this as unknown as { processID: number }).processID,
      cut: () => {
        void server.during(() => ended);
        (this.connection as unknown as { stream: Socket }).stream.destroy();
      },
    };
    void ended.then(() => server.forget(connection));
    return connection;
  }
}

async function tell(work: Promise<unknown>, callback: Told): Promise<void> {
  const error = await work.then(
    () => null,
    (caught: unknown) => caught as Error,
  );
  callback(error);
}

/** Node's error for a refused connection. */
class Refused extends Error {
  readonly code = "ECONNREFUSED";
  constructor() {
    super("connect ECONNREFUSED");
  }
}

/** The driver's error for a lost connection. */
class Lost extends Error {
  constructor() {
    super("Connection terminated unexpectedly");
  }
}
