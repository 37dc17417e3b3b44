/** The removal of messages whose person is gone, by a process that has none in flight. */
import { existsSync } from "node:fs";
import { MessageSweep } from "../scheduler/message-sweep.ts";
import type { Base } from "./base.ts";
import { outboxFolder, type Senders } from "./senders.ts";

/** As `Scheduler.sweep`. */
export function createSweep(base: Base, { all: senders }: Senders): () => Promise<number | null> {
  const { store, clock } = base;
  const sweep = new MessageSweep({ store, clock, senders, holdsMessages: () => holdsMessages(base) }, () => false);
  return () => sweep.run();
}

/** A command does not know where its server keeps messages, unless they are next to the data file. */
export function holdsMessages({ options, isFile }: Base): boolean {
  return options.knowsOutbox !== false || (isFile && existsSync(outboxFolder(options)));
}
