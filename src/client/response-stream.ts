/** A response body between the socket that pushes and the reader that pulls; at most a few chunks lie in between. */
export interface ResponseStream extends AsyncIterable<Uint8Array> {
  push(chunk: Uint8Array): void;
  end(): void;
  fail(error: Error): void;
}

export interface Tap {
  pause(): void;
  resume(): void;
  /** The reader wants no more. */
  cancel(): void;
}

const CHUNKS_WAITING_MAX = 4;

export function createResponseStream(tap: Tap): ResponseStream {
  const chunks: Uint8Array[] = [];
  let state: "open" | "ended" | "failed" | "cancelled" = "open";
  let failure: Error | null = null;
  let wake: (() => void) | null = null;

  const changed = (): void => {
    wake?.();
    wake = null;
  };

  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = chunks.shift();
        if (chunk !== undefined) yield chunk;
        else if (state === "ended") return;
        else if (failure !== null) throw failure;
        else {
          tap.resume();
          await new Promise<void>((resolve) => (wake = resolve));
        }
      }
    } finally {
      if (state === "open") {
        state = "cancelled";
        tap.cancel();
      }
    }
  }

  return {
    push: (chunk) => {
      if (state !== "open") return;
      chunks.push(chunk);
      if (chunks.length >= CHUNKS_WAITING_MAX) tap.pause();
      changed();
    },
    end: () => {
      if (state === "open") state = "ended";
      changed();
    },
    fail: (error) => {
      if (state === "open") state = "failed";
      failure = error;
      changed();
    },
    [Symbol.asyncIterator]: read,
  };
}
