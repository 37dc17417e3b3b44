/** Connects the socket, which pushes, to the reader, which pulls, with back-pressure. */
export interface ResponseStream extends AsyncIterable<Uint8Array> {
  push(chunk: Uint8Array): void;
  end(): void;
  fail(error: Error): void;
}

export interface Tap {
  pause(): void;
  resume(): void;
  cancel(): void;
}

const CHUNKS_WAITING_MAX = 4;

interface Flow {
  readonly tap: Tap;
  readonly chunks: Uint8Array[];
  state: "open" | "ended" | "failed" | "cancelled";
  failure: Error | null;
  wake: (() => void) | null;
}

/** Can be iterated once. A reader that stops early cancels the tap. */
export function createResponseStream(tap: Tap): ResponseStream {
  const flow: Flow = { tap, chunks: [], state: "open", failure: null, wake: null };
  return {
    push: (chunk) => {
      if (flow.state !== "open") return;
      flow.chunks.push(chunk);
      if (flow.chunks.length >= CHUNKS_WAITING_MAX) tap.pause();
      wakeReader(flow);
    },
    end: () => {
      if (flow.state === "open") flow.state = "ended";
      wakeReader(flow);
    },
    fail: (error) => {
      if (flow.state === "open") flow.state = "failed";
      flow.failure = error;
      wakeReader(flow);
    },
    [Symbol.asyncIterator]: () => readChunks(flow),
  };
}

function wakeReader(flow: Flow): void {
  flow.wake?.();
  flow.wake = null;
}

/** A generator inside `createResponseStream` would keep its closure alive until the next full collection. */
async function* readChunks(flow: Flow): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const chunk = flow.chunks.shift();
      if (chunk !== undefined) yield chunk;
      else if (flow.state === "ended") return;
      else if (flow.failure !== null) throw flow.failure;
      else {
        flow.tap.resume();
        await new Promise<void>((resolve) => (flow.wake = resolve));
      }
    }
  } finally {
    if (flow.state === "open") {
      flow.state = "cancelled";
      flow.tap.cancel();
    }
  }
}
