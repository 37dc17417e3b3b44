import type { Exchange } from "../../contract/http.ts";
import { createKey } from "../operations/projects.ts";
import { requireProject } from "../domain/projects/projects.ts";
import { DEFAULT_PROJECT, ensureProject } from "../first-project.ts";
import type { Base } from "../parts/base.ts";
import { createHttp, openKeys } from "../parts/http.ts";
import { openSenders } from "../parts/senders.ts";
import { createSending } from "../parts/sending.ts";
import { livingProcesses } from "../scheduler/heartbeat.ts";
import { DEFAULT_ADDRESS } from "../service-address.ts";
import { openForCommand } from "./administer.ts";
import type { DataFileOptions } from "./open-data-file.ts";

export interface LocalOptions extends DataFileOptions {
  readonly project?: string;
}

export interface LocalService {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly transport: Exchange;
  /** Delivers due messages to the outbox, unless a server uses this file or has mailed from it, and closes the file. */
  close(): Promise<void>;
}

export async function openLocal(options: LocalOptions): Promise<LocalService> {
  const base = await openForCommand(options);
  try {
    return await connect(base, options.project ?? DEFAULT_PROJECT);
  } catch (error) {
    await base.store.close();
    throw error;
  }
}

async function connect(base: Base, name: string): Promise<LocalService> {
  const { store, random } = base;
  if (name === DEFAULT_PROJECT) await ensureProject(store);
  const keys = openKeys(base);
  const apiKey = createKey(random);
  keys.addSession(apiKey, await store.read((tx) => requireProject(tx, name)));
  const senders = await openSenders(base);
  const isDelivered = await hasServer(base);
  const http = createHttp(base, { keys, senders: isDelivered ? { ...senders, outboxChannels: [] } : senders });
  const sending = isDelivered ? null : createSending(base, senders);
  sending?.start();
  return {
    baseUrl: DEFAULT_ADDRESS,
    apiKey,
    transport: http.handleLocally,
    close: async () => {
      try {
        await sending?.finish();
      } finally {
        await sending?.stop();
        await store.close();
      }
    },
  };
}

/** If true, only that server knows how to deliver messages. */
async function hasServer({ store }: Base): Promise<boolean> {
  if ((await livingProcesses(store)).length > 0) return true;
  return store.read(async (tx) => (await tx.senders.list()).length > 0);
}
