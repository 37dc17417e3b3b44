/** Request bodies, read on demand. Each has a limit, and so do all in flight together. */
import type { IncomingMessage } from "node:http";
import { HttpError } from "./replies.ts";

/** Bytes of one body. */
export const BODY_MAX = 1024 * 1024;
/** Bytes of all bodies being read or processed. */
const BODIES_MAX = 64 * BODY_MAX;
/** Bytes of a refused body that are read and dropped, so that the client reads the refusal. */
const DISCARD_MAX = 16 * BODY_MAX;
/** How long to wait for more of a refused body. */
const LINGER_MS = 2_000;

export function announcesTooMuch(contentLength: string | undefined): boolean {
  return contentLength !== undefined && Number(contentLength) > BODY_MAX;
}

export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

export interface RequestBody {
  /** Throws HttpError 413 or 503, the error given to `abort`, or ClientGoneError. */
  read(): Promise<Uint8Array>;
  /** Makes `read` fail with this error and ends `discard`. */
  abort(error: HttpError): void;
  readonly aborted: boolean;
  readonly isRead: boolean;
  /** Drops the unread rest, within bounds. */
  discard(): Promise<void>;
  /** Returns its share of the memory limit. */
  release(): void;
}

interface State {
  /** Bytes. */
  held: number;
  stop: (error: HttpError) => void;
  /** Why the body can't be read any more. */
  error: HttpError | null;
}

/** All bodies share a limit of 64 MiB until they are released. */
export function createBodies(): (incoming: IncomingMessage) => RequestBody {
  const inFlight = { bytes: 0 };
  return (incoming) => {
    const state: State = { held: 0, stop: () => undefined, error: null };
    const release = (): void => {
      inFlight.bytes -= state.held;
      state.held = 0;
    };
    const hold = (bytes: number): HttpError | null => {
      state.held += bytes;
      inFlight.bytes += bytes;
      if (state.held > BODY_MAX) return tooLarge();
      return inFlight.bytes > BODIES_MAX ? tooMany() : null;
    };
    return {
      read: () =>
        new Promise((resolve, reject) => {
          if (state.error !== null) reject(state.error);
          state.stop = reject;
          const chunks: Uint8Array[] = [];
          const take = (chunk: Uint8Array): void => {
            chunks.push(chunk);
            const refusal = hold(chunk.byteLength);
            if (refusal === null) return;
            incoming.off("data", take);
            chunks.length = 0;
            release();
            reject(refusal);
          };
          incoming.on("data", take);
          incoming.on("end", () => resolve(join(chunks)));
          onGone(incoming, () => reject(new ClientGoneError("the client went away")));
        }),
      abort: (error) => {
        state.error = error;
        state.stop(error);
      },
      get aborted() {
        return state.error !== null;
      },
      get isRead() {
        return incoming.readableEnded;
      },
      discard: () =>
        state.error !== null || incoming.readableEnded
          ? Promise.resolve()
          : new Promise((resolve) => {
              state.stop = () => resolve();
              throwAway(incoming, resolve);
            }),
      release,
    };
  };
}

export function tooLarge(): HttpError {
  return new HttpError(413, `Payload Too Large: a body may have at most ${BODY_MAX} bytes`);
}

function tooMany(): HttpError {
  return new HttpError(503, "Service Unavailable: too many large requests at once", { "retry-after": "1" });
}

function join(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}

function onGone(incoming: IncomingMessage, gone: () => void): void {
  incoming.on("error", gone);
  incoming.on("close", () => {
    if (!incoming.complete) gone();
  });
}

function throwAway(incoming: IncomingMessage, done: () => void): void {
  let size = 0;
  incoming.setTimeout(LINGER_MS);
  incoming.on("data", (chunk: Uint8Array) => {
    size += chunk.byteLength;
    if (size > DISCARD_MAX) incoming.destroy();
  });
  incoming.on("end", done);
  onGone(incoming, done);
}
