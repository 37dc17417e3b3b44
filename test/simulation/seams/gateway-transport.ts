/** Replaces `service/delivery/sms/gateway-transport.ts`. */
import type { Clock } from "../../../src/runtime/clock.ts";
import type { GatewayTransport as Original } from "../../../src/service/delivery/sms/gateway-transport.ts";
import type { SmsGateway } from "../../../src/service/delivery/sms/gateway.ts";
import { seams, type TextTransport } from "./seams.ts";

export class GatewayTransport implements TextTransport {
  readonly #transport: TextTransport;

  constructor(_: SmsGateway, clock: Clock) {
    this.#transport = seams.texts(clock);
  }

  send(...args: Parameters<Original["send"]>): ReturnType<Original["send"]> {
    return this.#transport.send(...args);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }
}
