/** The reason why the database cannot be used at present, from how the last work on it ended. */
import { StoreDatabaseError, type StoreEvent } from "../store-errors.ts";

export interface TroubleNotes {
  readonly current: () => StoreDatabaseError | null;
  /** With null after work that succeeded. A fault of ours says nothing of the database. */
  readonly note: (error: unknown) => void;
}

/** Tells of each trouble once, and of its end. */
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
