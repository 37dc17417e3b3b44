import type { KeptSender, SenderState, Store } from "../../domain/ports.ts";

export interface SenderMemory {
  /** Of this process or, if there is none, of the last one that saved. */
  readonly load: () => Promise<KeptSender | null>;
  readonly save: (state: SenderState) => Promise<void>;
  /** When an operator last made all senders retry, Unix milliseconds. */
  readonly resumedAt: () => Promise<number | null>;
}

/** `process` names this one, because others may send from the same store. */
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
