interface Tap {
  pause(): void;
  resume(): void;
  cancel(): void;
}

const CHUNKS_WAITING_MAX = 4;

/** Connects a socket, which pushes data, to a reader, which pulls it, with back-pressure. */
export class ResponseStream implements AsyncIterable<Uint8Array> {
  readonly #tap: Tap;
  readonly #chunks: Uint8Array[] = [];
  #state: "open" | "ended" | "failed" | "cancelled" = "open";
  #failure: Error | null = null;
  #wake: (() => void) | null = null;

  constructor(tap: Tap) {
    this.#tap = tap;
  }

  push(chunk: Uint8Array): void {
    if (this.#state !== "open") return;
    this.#chunks.push(chunk);
    if (this.#chunks.length >= CHUNKS_WAITING_MAX) this.#tap.pause();
    this.#wakeReader();
  }

  end(): void {
    if (this.#state === "open") this.#state = "ended";
    this.#wakeReader();
  }

  fail(error: Error): void {
    if (this.#state === "open") this.#state = "failed";
    this.#failure = error;
    this.#wakeReader();
  }

  #wakeReader(): void {
    this.#wake?.();
    this.#wake = null;
  }

  /** Cancels the source if the reader stops early. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) yield chunk;
        else if (this.#state === "ended") return;
        else if (this.#failure !== null) throw this.#failure;
        else {
          this.#tap.resume();
          await new Promise<void>((resolve) => (this.#wake = resolve));
        }
      }
    } finally {
      if (this.#state === "open") {
        this.#state = "cancelled";
        this.#tap.cancel();
      }
    }
  }
}
