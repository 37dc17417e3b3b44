/** For a process that has no messages in flight. */
import { MessageSweep } from "../scheduler/message-sweep.ts";
import type { Base } from "./base.ts";
import type { Senders } from "./senders.ts";

/** Like `Scheduler.sweep`. */
export function createSweep({ store, clock, options }: Base, { outbox }: Senders): () => Promise<number | null> {
  const holdsAllFiles = options.knowsOutbox !== false;
  const sweep = new MessageSweep({ store, clock, files: outbox, holdsAllFiles }, () => false);
  return () => sweep.run();
}
