/**
 * Connects the simulated world to the service: transports of senders and webhooks, the SQLite library and its copies,
 * and database connections. `bundle.js` puts the modules of this folder in place of the service's own.
 */
import type { DatabaseServer } from "../database/server.ts";
import type { Clock } from "../../../src/runtime/clock.ts";
import type { GatewayTransport } from "../../../src/service/delivery/sms/gateway-transport.ts";
import type { SmtpTransport } from "../../../src/service/delivery/smtp/smtp-transport.ts";
import type { EndpointTransport } from "../../../src/service/webhook/transport.ts";

export type MailTransport = Pick<SmtpTransport, "close" | "send">;
export type TextTransport = Pick<GatewayTransport, "close" | "send">;
export type EventTransport = Pick<EndpointTransport, "close" | "post">;

export interface Seams {
  /** `clock` identifies the process. */
  mail: (clock: Clock) => MailTransport;
  texts: (clock: Clock) => TextTransport;
  endpoint: (clock: Clock) => EventTransport;
  /** Only for worlds on a database server. */
  database: () => DatabaseServer;
  /** Called with a function that closes a database the process has opened. */
  opened: (close: () => void) => void;
}

function nothing(): never {
  throw new Error("no world runs");
}

export const seams: Seams = { mail: nothing, texts: nothing, endpoint: nothing, database: nothing, opened: nothing };
