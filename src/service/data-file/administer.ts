import { silentLog } from "../../runtime/log.ts";
import type { Admin } from "../operations/index.ts";
import type { Store } from "../domain/ports.ts";
import { openAdmin } from "../parts/admin.ts";
import { type Base, openBase } from "../parts/base.ts";
import { openSenders } from "../parts/senders.ts";
import { createSweep } from "../parts/sweep.ts";
import type { ServiceOptions } from "../service-options.ts";
import type { DataFileOptions } from "./open-data-file.ts";

/** `sender` is the default for mail that the command sends. */
export type CommandOptions = DataFileOptions & Pick<ServiceOptions, "commandMail" | "sender">;

export function openForCommand(options: CommandOptions): Promise<Base> {
  return openBase({ ...options, log: silentLog, publicUrl: null, rateLimit: null, knowsOutbox: false });
}

export async function administer<Result>(
  options: CommandOptions,
  work: (admin: Admin, store: Store) => Promise<Result>,
): Promise<Result> {
  const base = await openForCommand(options);
  try {
    const senders = await openSenders(base);
    return await work(openAdmin(base, senders, createSweep(base, senders)), base.store);
  } finally {
    await base.store.close();
  }
}
