/** In place of `service/delivery/sms/gateway-transport.ts`. */
import type { Clock } from "../../../src/runtime/clock.ts";
import type { GatewayTransport } from "../../../src/service/delivery/sms/gateway-transport.ts";
import type { SmsGateway } from "../../../src/service/delivery/sms/gateway.ts";
import { seams } from "./seams.ts";

export function createGatewayTransport(_: SmsGateway, clock: Clock): GatewayTransport {
  return seams.texts(clock);
}
