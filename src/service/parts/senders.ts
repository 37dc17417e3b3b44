/** Senders of messages: a mail server, a gateway for texts, and the outbox for the channels that have neither. */
import path from "node:path";
import type { Channel } from "../../contract/routes.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import type { SmtpSender } from "../delivery/mail/mail-sender.ts";
import { createOutbox, type Outbox } from "../delivery/outbox.ts";
import type { PacedSender } from "../delivery/paced-sender.ts";
import type { MessageSender } from "../domain/delivery/sender.ts";
import type { ServiceOptions } from "../service-options.ts";
import type { Base } from "./base.ts";
import { LAZY } from "./lazy.ts";
import type { Part } from "./part.ts";
import type { SmsDelivery } from "./sms.ts";

export interface Senders extends Part {
  /** Null without a mail server. */
  readonly mail: SmtpSender | null;
  /** Null without a gateway. */
  readonly sms: SmsDelivery | null;
  readonly outbox: Outbox;
  /** Channels whose messages become files. */
  readonly outboxChannels: readonly Channel[];
  /** Those with a server of their own. */
  readonly paced: readonly PacedSender[];
  /** One for each channel. */
  readonly all: readonly MessageSender[];
}

const CHANNELS = ["email", "sms"] as const;

export async function openSenders(base: Base): Promise<Senders> {
  const [mail, sms, outbox] = [await openMail(base), await openSms(base), openOutbox(base)];
  const paced = [mail, sms?.sender ?? null].filter((sender) => sender !== null);
  const outboxChannels = CHANNELS.filter((channel) => !paced.some((sender) => sender.channels.includes(channel)));
  const rest = outboxChannels.length === 0 ? [] : [{ ...outbox, channels: outboxChannels }];
  return {
    mail,
    sms,
    outbox,
    outboxChannels,
    paced,
    all: [...paced, ...rest],
    close: async () => {
      for (const sender of paced) await sender.close();
    },
  };
}

async function openMail(base: Base): Promise<SmtpSender | null> {
  const { mail = null } = base.options;
  if (mail === null) return null;
  const { signals, failures, contextOf: context } = base;
  const { openMailDelivery } = await LAZY.mail();
  return openMailDelivery({ ...base, ...mail, context, wake: signals.due.call, onError: failures.add });
}

async function openSms(base: Base): Promise<SmsDelivery | null> {
  const { sms = null } = base.options;
  if (sms === null) return null;
  const { signals, failures, deliveries: metrics, address, sender } = base;
  const { openSmsDelivery } = await LAZY.sms();
  const { senderName } = sender;
  const tools = { appUrl: address.url, senderName, metrics, wake: signals.due.call, onError: failures.add };
  return openSmsDelivery({ ...base, ...sms, ...tools });
}

function openOutbox({ options, dataName, clock, random, contextOf, failures }: Base): Outbox {
  return createOutbox({
    folder: outboxFolder(options),
    dataFile: dataName,
    clock,
    random,
    context: async (project) => ({ ...(await contextOf(project)), now: unixSeconds(clock) }),
    onError: failures.add,
  });
}

/** Unless the folder was named, it is next to the data file. */
export function outboxFolder({ outbox, dataFile }: Pick<ServiceOptions, "outbox" | "dataFile">): string {
  return outbox ?? path.join(path.dirname(path.resolve(dataFile)), "outbox");
}
