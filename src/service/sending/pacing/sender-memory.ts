import type { KeptSender, SenderState, Store } from "../../domain/ports.ts";

/** The state of a sender that is kept in the store. */
export interface SenderMemory {
  /** Of this process, or of the one that saved last; null for none. */
  readonly load: () => Promise<KeptSender | null>;
  readonly save: (state: SenderState) => Promise<void>;
  /** When an operator last had all senders try again, Unix milliseconds. */
  readonly resumedAt: () => Promise<number | null>;
}

/** `process` names this one, since others may send from the same store. */
export function createSenderMemory(store: Store, name: string, process: string): SenderMemory {
  return {
    load: async () => {
      const kept = await store.read((tx) => tx.senders.list());
      return kept.find((one) => one.name === name) ?? null;
    },
    save: (state) =>
      store.write((tx) => tx.senders.set({ name, process, savedAt: tx.nowMs, state }), {
        project: "none",
      }),
    resumedAt: () => store.read((tx) => tx.senders.sendersResumedAt()),
  };
}
