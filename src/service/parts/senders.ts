/** Senders for each channel: a mail server, a text gateway, or the outbox. */
import path from "node:path";
import type { Channel } from "../../contract/routes.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import { createOutbox, type Outbox } from "../delivery/outbox.ts";
import type { PacedSender } from "../delivery/pacing/paced-sender.ts";
import type { MessageSender } from "../domain/delivery/sender.ts";
import type { ServiceOptions } from "../service-options.ts";
import type { Base } from "./base.ts";
import { LAZY } from "./lazy.ts";
import type { Part } from "./part.ts";
import { withSlackDigests } from "../digest/slack-digest.ts";
import type { SmsDelivery } from "./sms.ts";

export interface Senders extends Part {
  readonly outbox: Outbox;
  /** Channels whose surveys are written to files. */
  readonly outboxChannels: readonly Channel[];
  /** Senders with a server. */
  readonly paced: readonly PacedSender[];
  /** One per channel of surveys and digests. */
  readonly all: readonly MessageSender[];
  /** Null without a gateway. */
  readonly replies: MessageSender | null;
}

const OUTBOX_CHANNELS = ["email", "sms", "digest", "reminder", "sms-reminder"] as const;

export async function openSenders(base: Base): Promise<Senders> {
  const [mail, sms, outbox] = [await openMail(base), await openSms(base), openOutbox(base)];
  const paced = [mail, sms?.sender ?? null].filter((sender) => sender !== null);
  const left = OUTBOX_CHANNELS.filter((channel) => !paced.some((sender) => sender.channels.includes(channel)));
  const rest = left.length === 0 ? [] : [{ ...outbox, channels: left }];
  return {
    outbox,
    outboxChannels: left.filter((channel) => channel === "email" || channel === "sms"),
    paced,
    all: [...paced, ...rest].map((sender) => withSlackDigests(base, sender)),
    replies: sms?.replies ?? null,
    close: async () => {
      for (const sender of paced) await sender.close();
    },
  };
}

async function openMail(base: Base): Promise<PacedSender | null> {
  const { mail = null } = base.options;
  if (mail === null) return null;
  const { store, signals, failures, contextOf: context } = base;
  const { openMailDelivery } = await LAZY.mail();
  return openMailDelivery({
    ...base,
    ...mail,
    context,
    makeDigest: async (due, own) => (await LAZY.digest()).makeDigest(store, due, own, mail.dkim),
    wake: signals.due.call,
    onError: failures.add,
  });
}

async function openSms(base: Base): Promise<SmsDelivery | null> {
  const { sms = null } = base.options;
  if (sms === null) return null;
  const { signals, failures, address, sender } = base;
  const { openSmsDelivery } = await LAZY.sms();
  const { senderName } = sender;
  return openSmsDelivery({
    ...base,
    ...sms,
    appUrl: address.url,
    senderName,
    wake: signals.due.call,
    onError: failures.add,
  });
}

function openOutbox({ options, dataName, store, clock, random, contextOf, failures }: Base): Outbox {
  return createOutbox({
    folder: outboxFolder(options),
    dataFile: dataName,
    clock,
    random,
    context: async (project) => ({ ...(await contextOf(project)), now: unixSeconds(clock) }),
    formatDigest: async (due) => {
      const { makeDigest } = await LAZY.digest();
      const { text, messageId } = await makeDigest(store, due, await contextOf(due.project), null);
      return { text, mark: messageId };
    },
    onError: failures.add,
  });
}

/** Next to the data file by default. */
function outboxFolder({ outbox, dataFile }: Pick<ServiceOptions, "outbox" | "dataFile">): string {
  return outbox ?? path.join(path.dirname(path.resolve(dataFile)), "outbox");
}
