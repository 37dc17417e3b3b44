/** Where the demo plays: a temporary folder, a real service on a free port in it, and `Deps` that are connected to it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClient } from "../../../client/create-client.ts";
import { undiciTransport } from "../../../client/transport/undici-transport.ts";
import { silentLog } from "../../../runtime/log.ts";
import { ensureFirstKey } from "../../../service/first-project.ts";
import { openService, type Service } from "../../../service/index.ts";
import { runServer, type RunningServer } from "../../../service/run-server.ts";
import type { Connection, Deps } from "../../command/deps.ts";
import { findProgram, formatConnectionFile, type DemoConnection } from "./connection-file.ts";
import { readDemoCsv } from "./customers.ts";

export interface Stage {
  readonly folder: string;
  readonly csv: string;
  /** Absolute path of a file of the folder. */
  readonly file: (name: string) => string;
  readonly connection: DemoConnection;
  /** For commands: connected to the service, tables also off a terminal, and everything they say on stdout. */
  readonly deps: Deps;
  /** Ends the service; the folder stays. */
  readonly close: () => Promise<void>;
  /** Removes the folder of a demo that did not come to its end. */
  discard(): Promise<void>;
}

export async function openStage(deps: Deps): Promise<Stage> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-demo-"));
  const file = (name: string): string => path.join(folder, name);
  const discard = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const csv = await readDemoCsv();
    await writeFile(file("customers.csv"), csv);
    const { connection, close } = await startService(deps, file("survey.db"));
    await writeFile(file("connection.sh"), formatConnectionFile(connection, findProgram()), { mode: 0o600 });
    return { folder, csv, file, connection, deps: connectedDeps(deps, connection), close, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}

async function startService(
  { clock, random }: Deps,
  dataFile: string,
): Promise<{ readonly connection: DemoConnection; readonly close: () => Promise<void> }> {
  const service = await openService({ dataFile, clock, random, log: silentLog, publicUrl: null, rateLimit: null });
  const apiKey = (await ensureFirstKey(service.store, random, null)) ?? "";
  const server = await runServer(service, { dataFile, host: "127.0.0.1", port: 0, tls: null, random, publicUrl: null });
  return { connection: { baseUrl: server.url, apiKey, dataFile }, close: () => stop(service, server) };
}

/** What is due is still delivered, so that the outbox is whole. */
async function stop(service: Service, server: RunningServer): Promise<void> {
  try {
    await service.finishDue();
  } finally {
    await server.stop();
  }
}

function connectedDeps(deps: Deps, { baseUrl, apiKey }: DemoConnection): Deps {
  const { clock, random, streams, options } = deps;
  const connect = async (): Promise<Connection> => {
    // Without the environment: a proxy has no business on the way to this machine itself.
    const transport = undiciTransport({ baseUrl, env: {} });
    return { client: createClient({ baseUrl, apiKey, transport, clock, random }), close: () => transport.close() };
  };
  return {
    ...deps,
    streams: { ...streams, err: streams.out },
    options: { ...options, output: "table", columns: null, baseUrl, profile: null, dryRun: false },
    connect,
  };
}
