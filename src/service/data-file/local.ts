/** The embedded service behind the profile `local`. */
import type { Exchange } from "../../contract/http.ts";
import { findHolder, type Holder } from "./administer.ts";
import { DEFAULT_PROJECT, ensureProject } from "../first-project.ts";
import { DEFAULT_ADDRESS } from "../delivery/message/sender.ts";
import type { DataFileOptions } from "./open-data-file.ts";

export interface LocalOptions extends DataFileOptions {
  /** Absent: `default`. */
  readonly project?: string;
}

export interface LocalService {
  readonly baseUrl: string;
  /** Good until this command ends, or the running server does. */
  readonly apiKey: string;
  readonly transport: Exchange;
  /** Delivers what is due into the outbox and frees the data file; a running server goes on. */
  close(): Promise<void>;
}

/**
 * Opens the data file, or reaches the server that runs on it. Throws ServerHangsError, StoreBusyError, StoreFileError,
 * AdminError.
 */
export async function openLocal(options: LocalOptions): Promise<LocalService> {
  const holder = await findHolder(options);
  try {
    return await connect(holder, options.project ?? DEFAULT_PROJECT);
  } catch (error) {
    await release(holder);
    throw error;
  }
}

async function connect(holder: Holder, project: string): Promise<LocalService> {
  if (holder.kind === "running") {
    const { key } = await holder.admin({ kind: "session", project });
    return {
      baseUrl: holder.record.control,
      apiKey: key,
      transport: holder.loopback.exchange,
      close: () => release(holder),
    };
  }
  const { service } = holder;
  if (project === DEFAULT_PROJECT) await ensureProject(service.store);
  const { key } = await service.admin({ kind: "session", project });
  service.startScheduler();
  return {
    baseUrl: DEFAULT_ADDRESS,
    apiKey: key,
    transport: service.handleLocally,
    close: () => release(holder),
  };
}

async function release(holder: Holder): Promise<void> {
  if (holder.kind === "running") return holder.loopback.close();
  try {
    await holder.service.finishDue();
  } finally {
    await holder.service.close();
  }
}
