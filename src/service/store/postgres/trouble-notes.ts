import { StoreDatabaseError, type StoreEvent } from "../store-errors.ts";

export interface TroubleNotes {
  readonly current: () => StoreDatabaseError | null;
  /** Call with null after success. Ignores errors of our own. */
  readonly note: (error: unknown) => void;
}

export function createTroubleNotes(onEvent: (event: StoreEvent) => void): TroubleNotes {
  const state = { trouble: null as StoreDatabaseError | null };
  return {
    current: () => state.trouble,
    note: (error) => {
      if (error === null) {
        if (state.trouble !== null) onEvent({ kind: "recovered" });
        state.trouble = null;
      } else if (error instanceof StoreDatabaseError) {
        if (state.trouble?.trouble !== error.trouble) onEvent({ kind: "trouble", error });
        state.trouble = error;
      }
    },
  };
}
