/** What a service does beside its work: it looks after its data file and empties the outbox of old messages. */
import type { Clock } from "../runtime/clock.ts";
import type { Outbox } from "./delivery/outbox.ts";
import type { Store } from "./domain/ports.ts";

export interface UpkeepOptions {
  readonly store: Store;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** Null keeps all messages. */
  readonly keepSeconds: number | null;
}

const LOOK_MS = 5_000;
const PRUNE_MS = 3_600_000;

export function createUpkeep(
  { store, outbox, clock, keepSeconds }: UpkeepOptions,
  onError: (error: unknown) => void,
): { readonly start: () => void; readonly stop: () => Promise<void> } {
  const stopping = new AbortController();
  const state: { loop: Promise<void> | null } = { loop: null };
  const loop = async (): Promise<void> => {
    let nextPruneMs = clock.monotonic();
    while (!stopping.signal.aborted) {
      if (clock.monotonic() >= nextPruneMs) {
        const now = clock.now();
        await outbox.prune(keepSeconds === null ? null : now - keepSeconds * 1000, now).catch(onError);
        nextPruneMs += PRUNE_MS;
      }
      // The store tells by itself what it finds.
      await store.verify().catch(() => undefined);
      await clock.sleep(LOOK_MS, stopping.signal).catch(() => undefined);
    }
  };
  return {
    start: () => {
      state.loop ??= loop();
    },
    stop: async () => {
      stopping.abort();
      await state.loop;
    },
  };
}
