import type { IncomingMessage, ServerResponse } from "node:http";
import { HttpError } from "./replies.ts";

export const BODY_MAX = 1024 * 1024;
/** Maximum bytes of all bodies being read or processed. */
const BODIES_MAX = 64 * BODY_MAX;

export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

export class Bodies {
  #bytes = 0;

  hold(bytes: number): boolean {
    this.#bytes += bytes;
    return this.#bytes <= BODIES_MAX;
  }
}

export class RequestBody {
  readonly #incoming: IncomingMessage;
  readonly #bodies: Bodies;
  #waiting: ServerResponse | null;
  #held = 0;
  #fail: (error: Error) => void = () => undefined;
  #error: HttpError | null = null;

  /** `waiting` is set if the client waits for permission to send the body (`Expect: 100-continue`). */
  constructor(incoming: IncomingMessage, bodies: Bodies, waiting: ServerResponse | null) {
    this.#incoming = incoming;
    this.#bodies = bodies;
    this.#waiting = waiting;
  }

  /** True while the client waits for permission to send the body: its next bytes may be the body or another request. */
  get isUncertain(): boolean {
    return this.#waiting !== null;
  }

  /** Throws HttpError 413 or 503, the error given to `abort`, or ClientGoneError. */
  read(): Promise<Uint8Array> {
    const incoming = this.#incoming;
    if (this.#error !== null) return Promise.reject(this.#error);
    this.#waiting?.writeContinue();
    this.#waiting = null;
    return new Promise((resolve, reject) => {
      const chunks: Uint8Array[] = [];
      this.#fail = (error) => {
        incoming.off("data", take).resume();
        chunks.length = 0;
        this.release();
        reject(error);
      };
      const take = (chunk: Uint8Array): void => {
        chunks.push(chunk);
        this.#held += chunk.byteLength;
        const hasRoom = this.#bodies.hold(chunk.byteLength);
        if (this.#held > BODY_MAX) this.#fail(tooLarge());
        else if (!hasRoom)
          this.#fail(
            new HttpError(503, "Service Unavailable: too many large requests at once", { "retry-after": "1" }),
          );
      };
      incoming.on("data", take);
      incoming.on("end", () => resolve(Buffer.concat(chunks)));
      const gone = (): void => this.#fail(new ClientGoneError("the client went away"));
      incoming.on("error", gone);
      incoming.on("close", () => {
        if (!incoming.complete) gone();
      });
    });
  }

  abort(error: HttpError): void {
    this.#error = error;
    this.#fail(error);
  }

  release(): void {
    this.#bodies.hold(-this.#held);
    this.#held = 0;
  }
}

export function tooLarge(): HttpError {
  return new HttpError(413, `Payload Too Large: a body may have at most ${BODY_MAX} bytes`);
}
