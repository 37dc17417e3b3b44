/**
 * Where the simulated world is put in: the transports of senders and webhooks, the SQLite library that opens a data file
 * and copies it, and the connections to a database server. The bundle (`bundle.js`) has the modules of this folder in the place of the service's own.
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
  /** `clock` tells which process asks: each has its own. */
  mail: (clock: Clock) => MailTransport;
  texts: (clock: Clock) => TextTransport;
  endpoint: (clock: Clock) => EventTransport;
  /** The server of a world that has one. */
  database: () => DatabaseServer;
  /** Called with what closes each database that a process opened. */
  opened: (close: () => void) => void;
}

function nothing(): never {
  throw new Error("no world runs");
}

export const seams: Seams = { mail: nothing, texts: nothing, endpoint: nothing, database: nothing, opened: nothing };
