/** The scheduler's sender of mail: what the words of a mail server mean for it. */
import { replaceText } from "../../../contract/replace-text.ts";
import type { DeliveryProgress, DeliveryResult } from "../../domain/delivery/sender.ts";
import type { DueSurvey, FrozenMessage } from "../../domain/ports.ts";
import type { SmtpMessage, SmtpReply, SmtpTransport } from "../smtp/smtp-types.ts";
import {
  type AnsweredResult,
  type CarrierMeaning,
  NOTHING_MEANT,
  openPacedSender,
  type Outgoing,
  type PacedSender,
  type PacedSenderOptions,
  surveyKey,
} from "../paced-sender.ts";
import { classifyReply } from "./classify-reply.ts";
import { maskReply } from "./parse-reply.ts";

export interface RenderedMail {
  readonly message: SmtpMessage;
  readonly frozen: FrozenMessage;
}

export interface SmtpSenderOptions extends Omit<
  PacedSenderOptions<SmtpMessage, SmtpReply>,
  "name" | "channel" | "meaningOf"
> {
  readonly transport: SmtpTransport;
  /** The same message each time, from what was frozen the first time. */
  readonly render: (due: DueSurvey) => Promise<RenderedMail>;
  /** Messages to other addresses are held. */
  readonly mayReceive: (address: string) => boolean;
}

/** One mail of whatever kind. */
export interface OutgoingMail extends Pick<Outgoing<SmtpMessage>, "key" | "attempts" | "firstAttemptAt"> {
  readonly address: string;
  /** The same message each time. */
  readonly render: () => Promise<RenderedMail>;
}

export interface SmtpSender extends PacedSender {
  /** As `deliver`, for a mail that is no survey. */
  readonly deliverMail: (mail: OutgoingMail, progress: DeliveryProgress) => Promise<DeliveryResult>;
}

export async function openSmtpSender({ mayReceive, render, ...options }: SmtpSenderOptions): Promise<SmtpSender> {
  const { send, ...sender } = await openPacedSender<SmtpMessage, SmtpReply>({
    ...options,
    name: "smtp",
    channel: "email",
    meaningOf: meaningOfReply,
  });
  const deliverMail: SmtpSender["deliverMail"] = async ({ address, ...mail }, progress) => {
    if (!mayReceive(address)) return { kind: "held", reason: "mail to this address is not allowed here" };
    const words = {
      mask: (text: string) => maskReply(text, address),
      redact: (text: string) => replaceText(text, address, "<address>"),
    };
    return send({ ...mail, ...words, domain: domainOf(address) }, progress);
  };
  return {
    ...sender,
    deliver: async (due, progress) => {
      const { attempts, firstAttemptAt } = due;
      const address = due.person.email;
      if (address === null) return { kind: "failed", reason: "the person has no email address" };
      const mail = { key: surveyKey(due), address, attempts, firstAttemptAt, render: () => render(due) };
      return deliverMail(mail, progress);
    },
    deliverMail,
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
