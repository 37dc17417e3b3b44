import { StoreDatabaseError, type StoreEvent } from "../store-errors.ts";

export class TroubleNotes {
  readonly #onEvent: (event: StoreEvent) => void;
  current: StoreDatabaseError | null = null;

  constructor(onEvent: (event: StoreEvent) => void) {
    this.#onEvent = onEvent;
  }

  /** Call it with null after a success. Ignores errors in our own code. */
  note = (error: unknown): void => {
    if (error === null) {
      if (this.current !== null) this.#onEvent({ kind: "recovered" });
      this.current = null;
    } else if (error instanceof StoreDatabaseError) {
      if (this.current?.trouble !== error.trouble) this.#onEvent({ kind: "trouble", error });
      this.current = error;
    }
  };
}
