/** Replaces `service/delivery/smtp/smtp-transport.ts`. */
import type {
  SmtpTransport as Original,
  SmtpTransportOptions,
} from "../../../src/service/delivery/smtp/smtp-transport.ts";
import { type MailTransport, seams } from "./seams.ts";

export class SmtpTransport implements MailTransport {
  readonly #transport: MailTransport;

  constructor({ clock }: SmtpTransportOptions) {
    this.#transport = seams.mail(clock);
  }

  send(...args: Parameters<Original["send"]>): ReturnType<Original["send"]> {
    return this.#transport.send(...args);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }
}
