/** In place of `service/webhook/transport.ts`. */
import type { EndpointOptions, EndpointTransport } from "../../../src/service/webhook/transport.ts";
import { seams } from "./seams.ts";

export function createEndpointTransport({ clock }: EndpointOptions): EndpointTransport {
  return seams.endpoint(clock);
}
