/** The embedded service behind the profile `local`. */
import type { Exchange } from "../../contract/http.ts";
import { DEFAULT_ADDRESS } from "../delivery/message/sender.ts";
import { DEFAULT_PROJECT, ensureProject } from "../first-project.ts";
import type { Service } from "../index.ts";
import { livingProcesses } from "../scheduler/heartbeat.ts";
import { openForCommand } from "./administer.ts";
import type { DataFileOptions } from "./open-data-file.ts";

export interface LocalOptions extends DataFileOptions {
  /** Absent: `default`. */
  readonly project?: string;
}

export interface LocalService {
  readonly baseUrl: string;
  /** Good until this command ends. */
  readonly apiKey: string;
  readonly transport: Exchange;
  /** Delivers what is due into the outbox, unless a server delivers from this file, and frees it. */
  close(): Promise<void>;
}

/** Throws StoreFileError, AdminError. */
export async function openLocal(options: LocalOptions): Promise<LocalService> {
  const service = await openForCommand(options);
  try {
    return await connect(service, options.project ?? DEFAULT_PROJECT);
  } catch (error) {
    await service.close();
    throw error;
  }
}

async function connect(service: Service, project: string): Promise<LocalService> {
  if (project === DEFAULT_PROJECT) await ensureProject(service.store);
  const { key } = await service.admin({ kind: "session", project });
  // A server knows how its messages leave.
  const isServed = (await livingProcesses(service.store)).length > 0;
  if (!isServed) service.startScheduler();
  return {
    baseUrl: DEFAULT_ADDRESS,
    apiKey: key,
    transport: service.handleLocally,
    close: async () => {
      try {
        if (!isServed) await service.finishDue();
      } finally {
        await service.close();
      }
    },
  };
}
