/** Administration of a data file, open in a running server or not. */
import { silentLog } from "../../runtime/log.ts";
import { isRunning } from "../../runtime/files/processes.ts";
import type { Admin } from "../control/commands.ts";
import { ControlLostError, createControlClient, pingServer } from "../control/control-channel.ts";
import { readControlFile, type ControlRecord } from "../control/control-file.ts";
import { createLoopbackExchange, type LoopbackExchange } from "../control/loopback-exchange.ts";
import { openService, type Service } from "../index.ts";
import { AlreadyServedError, type DataFileOptions } from "./open-data-file.ts";

/** A server that owns the file answers sooner than this, or not at all. */
const PATIENCE_MS = 10_000;

/** The owner of the data file: a running server, or the service opened here. */
export type Holder =
  | {
      readonly kind: "running";
      readonly record: ControlRecord;
      readonly admin: Admin;
      readonly loopback: LoopbackExchange;
    }
  | { readonly kind: "opened"; readonly service: Service };

/**
 * Finds the running server, or opens the data file. Throws ServerHangsError when the server does not answer, and
 * StoreBusyError when a process that is no server keeps the file.
 */
export async function findHolder(options: DataFileOptions): Promise<Holder> {
  const startedMs = options.clock.monotonic();
  for (;;) {
    const running = await findRunning(options);
    if (running !== null) return running;
    try {
      return {
        kind: "opened",
        service: await openService({
          ...options,
          log: silentLog,
          publicUrl: null,
          rateLimit: null,
          knowsOutbox: false,
        }),
      };
    } catch (error) {
      // A server was quicker: it is asked, as soon as it answers.
      if (!(error instanceof AlreadyServedError) || options.clock.monotonic() - startedMs > PATIENCE_MS) throw error;
      await options.clock.sleep(50);
    }
  }
}

async function findRunning({ dataFile, database = null, clock, random }: DataFileOptions): Promise<Holder | null> {
  // Nothing lies beside a database, and several processes may use it.
  if (database !== null) return null;
  const record = await readControlFile(dataFile);
  // What a killed server left names a port that anybody may have by now.
  if (record === null || !(await isRunning(record))) return null;
  const loopback = createLoopbackExchange();
  const admin = createControlClient(record, loopback.exchange, random);
  try {
    await pingServer(admin, record, clock);
    return { kind: "running", record, admin, loopback };
  } catch (error) {
    loopback.close();
    if (error instanceof ControlLostError) return null;
    throw error;
  }
}

/** Gives `work` the commands of the data file and frees it again. */
export async function administer<Result>(
  options: DataFileOptions,
  work: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  const holder = await findHolder(options);
  try {
    return await work(holder.kind === "running" ? holder.admin : holder.service.admin);
  } finally {
    if (holder.kind === "running") holder.loopback.close();
    else await holder.service.close();
  }
}
