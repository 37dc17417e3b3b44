import { type Clock, unixSeconds } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Random } from "../../runtime/random.ts";
import { areAligned } from "../delivery/doctor/finding.ts";
import type { DkimKey } from "../delivery/mail/dkim.ts";
import { openSmtpSender } from "./mail-sender.ts";
import type { PacedSender } from "./pacing/paced-transport.ts";
import { maskReply } from "../delivery/mail/parse-reply.ts";
import type { SendRate } from "../delivery/carrier.ts";
import { renderMail } from "../delivery/message/render-mail.ts";
import { senderDomain, type MailContext } from "../delivery/message/sender.ts";
import { SmtpTransport } from "../delivery/smtp/smtp-transport.ts";
import type { SmtpMessage } from "../delivery/smtp/smtp-types.ts";
import { describeSmtpServer, type SmtpServer } from "../delivery/smtp/smtp-url.ts";
import { releaseAll, releaseHeld } from "../domain/delivery/oversight.ts";
import type { Project } from "../domain/inputs.ts";
import type { DueDigest, DueSurvey, Store } from "../domain/ports.ts";
import { allowing, logSenderChange } from "./log-change.ts";

export interface MailOptions {
  readonly server: SmtpServer;
  readonly certificates: string | null;
  readonly rate: SendRate;
  readonly connections: number;
  /** Null if the mail server signs. */
  readonly dkim: DkimKey | null;
  /** Addresses that may get mail, `*` for any characters; null for all. Mail to others is held. */
  readonly onlyTo: string | null;
}

export interface MailTools {
  readonly store: Store;
  readonly process: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly contextOf: (project: Project) => Promise<MailContext>;
  readonly makeDigest: (due: DueDigest, context: MailContext, key: DkimKey | null) => Promise<DigestMail>;
  readonly wake: (dueAt?: number) => void;
  readonly onError: (error: unknown) => void;
}

interface DigestMail {
  readonly message: SmtpMessage;
  readonly text: string;
  readonly messageId: string;
}

/** The scheduler stops first and has already waited for transmissions. */
const AT_ONCE = { drain: 0, drainPastDot: 0 } as const;

export async function openMailDelivery(options: MailOptions & MailTools): Promise<PacedSender> {
  const { store, clock, random, log, server, certificates, connections, rate, onError, wake } = options;
  const checkSender = createSenderCheck(options.dkim, log);
  const contextOf = async (project: DueSurvey["project"]): Promise<MailContext> => {
    const context = await options.contextOf(project);
    checkSender(project, context.sender.from);
    return context;
  };
  // Only with a DKIM key is there something to check.
  if (options.dkim !== null)
    for (const project of await store.read((tx) => tx.projects.list())) await contextOf(project);
  return openSmtpSender({
    transport: new SmtpTransport({ server, certificates, connections, clock, timeouts: AT_ONCE }),
    connections,
    rate,
    store,
    clock,
    random,
    process: options.process,
    wake,
    onError,
    render: async (due) => {
      const context = await contextOf(due.project);
      if (due.channel !== "digest")
        return renderMail(due, context, { random, now: unixSeconds(clock), key: options.dkim });
      const { message, messageId } = await options.makeDigest(due, context, options.dkim);
      return { message, frozen: { messageId, bounceToken: null, values: {} } };
    },
    mayReceive: allowing(options.onlyTo),
    onChange: (health, isHealed) => {
      logSenderChange(log, { name: "mail", place: { server: describeSmtpServer(server) }, mask: maskReply }, health);
      if (isHealed) void releaseAll(store, releaseHeld).then(wake, onError);
    },
  });
}

/** Warns once per project sender whose domain the signature doesn't cover. Its mail is sent anyway. */
function createSenderCheck(key: DkimKey | null, log: Log): (project: DueSurvey["project"], from: string) => void {
  const warned = new Set<string>();
  return ({ id, name }, from) => {
    const domain = senderDomain(from);
    if (key === null || areAligned(key.domain, domain) || warned.has(`${id} ${domain}`)) return;
    warned.add(`${id} ${domain}`);
    const message = `project ${name} sends from ${domain}, which the DKIM signature of ${key.domain} does not cover`;
    log.warn("dkim_not_aligned", { project: name, sender_domain: domain, dkim_domain: key.domain, message });
  };
}
