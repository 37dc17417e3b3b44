import { replaceText } from "../domain/privacy/erase.ts";
import type { DueDigest, DueQuestion } from "../domain/ports.ts";
import { type Meaning, NOTHING_MEANT } from "../delivery/carrier.ts";
import type { SmtpMessage, SmtpReply } from "../delivery/smtp/smtp-types.ts";
import {
  type AnsweredResult,
  type Composed,
  type PacedSender,
  PacedTransport,
  type PacedTransportOptions,
} from "./pacing/paced-transport.ts";
import { classifyReply } from "../delivery/mail/classify-reply.ts";
import { maskReply } from "../delivery/mail/parse-reply.ts";

export interface SmtpSenderOptions extends Omit<PacedTransportOptions<SmtpMessage, SmtpReply>, "name" | "interpret"> {
  /** Renders the same message on every attempt, from the values frozen by the first one. */
  readonly render: (due: DueMail) => Promise<Pick<Composed<SmtpMessage>, "frozen" | "message">>;
  readonly mayReceive: (address: string) => boolean;
}

type DueMail = DueQuestion | DueDigest;

export async function openSmtpSender({ mayReceive, render, ...options }: SmtpSenderOptions): Promise<PacedSender> {
  const transport = await PacedTransport.open<SmtpMessage, SmtpReply>({
    ...options,
    name: "smtp",
    interpret: interpretReply,
  });
  return transport.toSender({
    channels: ["email", "digest", "reminder"],
    deliver: async (due, progress) => {
      if (due.channel === "reply") throw new TypeError("replies are not mailed");
      const address = due.channel === "digest" ? due.email : due.person.email;
      if (address === null) return { kind: "failed", reason: "the person has no email address" };
      if (!mayReceive(address)) return { kind: "held", reason: "mail to this address is not allowed here" };
      const compose = async (): Promise<Composed<SmtpMessage>> => ({
        ...(await render(due)),
        domain: address.slice(address.lastIndexOf("@") + 1).toLowerCase(),
        mask: (text) => maskReply(text, address),
        redact: (text) => replaceText(text, address, "<address>"),
      });
      return transport.send(due, compose, progress);
    },
  });
}

function interpretReply({ kind, reply }: AnsweredResult<SmtpReply>): Meaning {
  const { stage, code } = reply;
  if (kind === "accepted") return { ...NOTHING_MEANT, outcome: "sent" };
  if (stage !== "final-dot" || code !== null) return classifyReply(reply);
  // Backs off; otherwise every message would become unknown on a server that drops the connection after the final dot.
  return { ...NOTHING_MEANT, outcome: "unknown", sender: "back-off" };
}
