/** The scheduler's sender of mail: what the words of a mail server mean for it. */
import { replaceText } from "../../../contract/replace-text.ts";
import type { FrozenMessage } from "../../domain/ports.ts";
import type { SmtpMessage, SmtpReply, SmtpTransport } from "../smtp/smtp-types.ts";
import {
  type AnsweredResult,
  type CarrierMeaning,
  NOTHING_MEANT,
  openPacedSender,
  type PacedSender,
  type PacedSenderOptions,
} from "../paced-sender.ts";
import { classifyReply } from "./classify-reply.ts";
import { maskReply } from "./parse-reply.ts";

export interface RenderedMail {
  readonly message: SmtpMessage;
  readonly frozen: FrozenMessage;
}

export interface SmtpSenderOptions extends Omit<
  PacedSenderOptions<SmtpMessage, SmtpReply>,
  "name" | "channel" | "domainOf" | "meaningOf" | "mask" | "redact"
> {
  readonly transport: SmtpTransport;
  /** Messages to other addresses are held. */
  readonly mayReceive: (address: string) => boolean;
}

export async function openSmtpSender({ mayReceive, ...options }: SmtpSenderOptions): Promise<PacedSender> {
  const sender = await openPacedSender<SmtpMessage, SmtpReply>({
    ...options,
    name: "smtp",
    channel: "email",
    domainOf: ({ person }) => domainOf(person.email ?? ""),
    meaningOf: meaningOfReply,
    mask: (text, { person }) => maskReply(text, person.email ?? ""),
    redact: (text, { person }) => replaceText(text, person.email ?? "", "<address>"),
  });
  return {
    ...sender,
    deliver: async (due, progress) => {
      const address = due.person.email;
      if (address === null) return { kind: "failed", reason: "the person has no email address" };
      if (!mayReceive(address)) return { kind: "held", reason: "mail to this address is not allowed here" };
      return sender.deliver(due, progress);
    },
  };
}

function meaningOfReply(result: AnsweredResult<SmtpReply>): CarrierMeaning {
  const { stage, code, ...words } = result.reply;
  if (result.kind === "accepted") return { ...NOTHING_MEANT, outcome: "sent" };
  if (stage !== "final-dot") return classifyReply({ ...words, stage, code });
  if (code !== null) return classifyReply({ ...words, stage, code });
  // A server that loses messages past the dot would make each of them unknown.
  return { ...NOTHING_MEANT, outcome: "unknown", sender: "back-off" };
}

function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1).toLowerCase();
}
