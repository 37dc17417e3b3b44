/** Replaces `service/webhook/transport.ts`. */
import type { EndpointOptions, EndpointTransport as Original } from "../../../src/service/webhook/transport.ts";
import { type EventTransport, seams } from "./seams.ts";

export class EndpointTransport implements EventTransport {
  readonly #transport: EventTransport;

  constructor({ clock }: EndpointOptions) {
    this.#transport = seams.endpoint(clock);
  }

  post(...args: Parameters<Original["post"]>): ReturnType<Original["post"]> {
    return this.#transport.post(...args);
  }

  close(): void {
    this.#transport.close();
  }
}
