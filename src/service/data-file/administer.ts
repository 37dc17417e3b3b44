import { systemUser } from "../../runtime/files/processes.ts";
import { silentLog } from "../../runtime/log.ts";
import { type Admin, createAdmin } from "../operations/index.ts";
import type { Store } from "../domain/ports.ts";
import { MessageSweep } from "../sending/message-sweep.ts";
import { type CommonParts, openCommonParts, openSenders } from "../common-parts.ts";
import { openTools } from "../operation-tools.ts";
import type { ServiceOptions } from "../service-options.ts";
import type { DataFileOptions } from "./open-data-file.ts";

export type CommandOptions = DataFileOptions & Pick<ServiceOptions, "sender">;

export function openForCommand(options: CommandOptions): Promise<CommonParts> {
  return openCommonParts({ ...options, log: silentLog, publicUrl: null, rateLimit: null, knowsOutbox: false });
}

export async function administer<Result>(
  options: CommandOptions,
  work: (admin: Admin, store: Store) => Promise<Result>,
): Promise<Result> {
  const parts = await openForCommand(options);
  const { store } = parts;
  try {
    const senders = await openSenders(parts);
    const sweep = new MessageSweep(
      { store, clock: options.clock, files: senders.outbox, knowsOutbox: false },
      () => false,
    );
    const tools = openTools(parts, senders, () => sweep.run());
    return await work(createAdmin({ ...tools, actor: { key: null, name: systemUser() } }), store);
  } finally {
    await store.close();
  }
}
