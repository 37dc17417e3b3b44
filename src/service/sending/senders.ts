import path from "node:path";
import type { Channel } from "../../contract/routes.ts";
import { Outbox } from "./outbox.ts";
import type { PacedSender } from "./pacing/paced-transport.ts";
import type { MessageSender } from "../domain/delivery/sender.ts";
import type { MailOptions, MailTools } from "./mail.ts";
import type { SmsDelivery, SmsOptions, SmsTools } from "./sms.ts";

export interface SendersOptions extends MailTools, SmsTools {
  readonly mail: MailOptions | null;
  readonly sms: SmsOptions | null;
  /** `dataFile` is the data file's path or the database's name. */
  readonly outbox: { readonly folder: string; readonly dataFile: string };
  readonly withDigests: (sender: MessageSender) => MessageSender;
}

export interface Senders {
  readonly outbox: Outbox;
  readonly outboxChannels: readonly Channel[];
  readonly paced: readonly PacedSender[];
  readonly all: readonly MessageSender[];
  readonly replies: MessageSender | null;
  readonly close: () => Promise<void>;
}

const CHANNELS = ["email", "sms", "digest", "reminder", "sms-reminder"] as const;

export async function createSenders(options: SendersOptions): Promise<Senders> {
  const { mail, sms, withDigests } = options;
  const mailSender = mail === null ? null : await (await import("./mail.ts")).openMailDelivery({ ...options, ...mail });
  const texts: SmsDelivery | null =
    sms === null ? null : await (await import("./sms.ts")).openSmsDelivery({ ...options, ...sms });
  const paced = [mailSender, texts?.sender ?? null].filter((sender) => sender !== null);
  const left = CHANNELS.filter((channel) => !paced.some((sender) => sender.channels.includes(channel)));
  const outbox = new Outbox({ ...options, ...options.outbox, channels: left });
  return {
    outbox,
    outboxChannels: left.filter((channel) => channel === "email" || channel === "sms"),
    paced,
    all: [...paced, ...(left.length === 0 ? [] : [outbox])].map(withDigests),
    replies: texts?.replies ?? null,
    close: async () => {
      for (const sender of paced) await sender.close();
    },
  };
}

export function outboxFolder(options: { readonly outbox?: string | null; readonly dataFile: string }): string {
  return options.outbox ?? path.join(path.dirname(path.resolve(options.dataFile)), "outbox");
}
