import { systemUser } from "../../runtime/files/processes.ts";
import { silentLog } from "../../runtime/log.ts";
import { type Admin, createAdmin } from "../operations/index.ts";
import type { Store } from "../domain/ports.ts";
import { MessageSweep } from "../sending/message-sweep.ts";
import { type Core, openCore, openSenders } from "../core.ts";
import { openTools } from "../operation-tools.ts";
import type { ServiceOptions } from "../service-options.ts";
import type { DataFileOptions } from "./open-data-file.ts";

/** `sender` is the default for mail that the command sends. */
export type CommandOptions = DataFileOptions & Pick<ServiceOptions, "sender">;

export function openForCommand(options: CommandOptions): Promise<Core> {
  return openCore({ ...options, log: silentLog, publicUrl: null, rateLimit: null, knowsOutbox: false });
}

export async function administer<Result>(
  options: CommandOptions,
  work: (admin: Admin, store: Store) => Promise<Result>,
): Promise<Result> {
  const core = await openForCommand(options);
  const { store } = core;
  try {
    const senders = await openSenders(core);
    const sweep = new MessageSweep(
      { store, clock: options.clock, files: senders.outbox, holdsAllFiles: false },
      () => false,
    );
    const tools = openTools(core, senders, () => sweep.run());
    return await work(createAdmin(tools, { key: null, name: systemUser() }), store);
  } finally {
    await store.close();
  }
}
