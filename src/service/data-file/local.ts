import type { Exchange } from "../../contract/http.ts";
import { createKey } from "../operations/projects.ts";
import { requireProject } from "../domain/projects/projects.ts";
import { DEFAULT_PROJECT, ensureProject } from "../first-project.ts";
import { livingProcesses } from "../sending/heartbeat.ts";
import { type CommonParts, openSenders } from "../common-parts.ts";
import { KeyRing } from "../http/authentication.ts";
import { openHttp, openSending } from "../service.ts";
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
  /** Closes the file. First delivers due messages to the outbox, unless it has (or had) a server that delivers them. */
  close(): Promise<void>;
}

export async function openLocal(options: LocalOptions): Promise<LocalService> {
  const parts = await openForCommand(options);
  try {
    return await connect(parts, options.project ?? DEFAULT_PROJECT);
  } catch (error) {
    await parts.store.close();
    throw error;
  }
}

async function connect(parts: CommonParts, name: string): Promise<LocalService> {
  const { store } = parts;
  if (name === DEFAULT_PROJECT) await ensureProject(store);
  const { clock, random, rateLimit } = parts.options;
  const keys = new KeyRing(store, clock, rateLimit);
  const apiKey = createKey(random);
  keys.addSession(apiKey, await store.read((tx) => requireProject(tx, name)));
  const senders = await openSenders(parts);
  const isDelivered = await hasServer(parts);
  const http = openHttp(parts, {
    keys,
    senders: isDelivered ? { ...senders, outboxChannels: [] } : senders,
    sweep: async () => null,
    isReady: () => true,
  });
  const sending = isDelivered ? null : openSending(parts, senders);
  sending?.start();
  return {
    baseUrl: DEFAULT_ADDRESS,
    apiKey,
    transport: (request) => http.handle(request, "local"),
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

async function hasServer({ store }: CommonParts): Promise<boolean> {
  if ((await livingProcesses(store)).length > 0) return true;
  return store.read(async (tx) => (await tx.senders.list()).length > 0);
}
