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
import type { Project } from "../domain/inputs.ts";
import type { DueDigest, Store } from "../domain/ports.ts";
import { allowing, createWarnOnce, followHealth, type WarnOnce } from "./sender-log.ts";

export interface MailOptions {
  readonly server: SmtpServer;
  readonly certificates: string | null;
  readonly rate: SendRate;
  readonly connections: number;
  readonly dkim: DkimKey | null;
  /** Pattern of addresses that may get mail, with `*` for any characters; null allows all. Other messages are held. */
  readonly onlyTo: string | null;
}

export interface MailTools {
  readonly store: Store;
  readonly process: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly readContext: (project: Project) => Promise<MailContext>;
  readonly makeDigest: (due: DueDigest, context: MailContext, key: DkimKey | null) => Promise<DigestMail>;
  readonly wake: (dueAt?: number) => void;
  readonly onError: (error: unknown) => void;
}

export interface DigestMail {
  readonly message: SmtpMessage;
  readonly text: string;
  readonly messageId: string;
}

export async function openMailDelivery(options: MailOptions & MailTools): Promise<PacedSender> {
  const { store, clock, random, log, server, certificates, connections, rate, dkim, onError, wake } = options;
  const warnOnce = createWarnOnce(log);
  const readContext = async (project: Project): Promise<MailContext> => {
    const context = await options.readContext(project);
    if (dkim !== null) checkSender(warnOnce, project, context.sender.from, dkim);
    return context;
  };
  if (dkim !== null) for (const project of await store.read((tx) => tx.projects.list())) await readContext(project);
  return openSmtpSender({
    // Doesn't drain, because the scheduler stops first and has already waited for transmissions.
    transport: new SmtpTransport({ server, certificates, connections, clock, timeouts: { drainPastDot: 0 } }),
    connections,
    rate,
    store,
    clock,
    random,
    process: options.process,
    wake,
    onError,
    render: async (due) => {
      const context = await readContext(due.project);
      if (due.channel !== "digest") return renderMail(due, context, { random, now: unixSeconds(clock), key: dkim });
      const { message, messageId } = await options.makeDigest(due, context, dkim);
      return { message, frozen: { messageId, bounceToken: null, values: {} } };
    },
    mayReceive: allowing(options.onlyTo),
    onChange: followHealth(options, { name: "mail", place: { server: describeSmtpServer(server) }, mask: maskReply }),
  });
}

/** Warns if the signature doesn't cover the sender's domain. The project's messages are sent anyway. */
function checkSender(warnOnce: WarnOnce, { id, name }: Project, from: string, key: DkimKey): void {
  const domain = senderDomain(from);
  if (areAligned(key.domain, domain)) return;
  const message = `project ${name} sends from ${domain}, which the DKIM signature of ${key.domain} does not cover`;
  const fields = { project: name, sender_domain: domain, dkim_domain: key.domain, message };
  warnOnce(`${id} ${domain}`, "dkim_not_aligned", fields);
}
