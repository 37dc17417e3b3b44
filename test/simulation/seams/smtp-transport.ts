/** In place of `service/delivery/smtp/smtp-transport.ts`. */
import type { SmtpTransportOptions } from "../../../src/service/delivery/smtp/smtp-transport.ts";
import type { SmtpTransport } from "../../../src/service/delivery/smtp/smtp-types.ts";
import { seams } from "./seams.ts";

export function createSmtpTransport({ clock }: SmtpTransportOptions): SmtpTransport {
  return seams.mail(clock);
}
