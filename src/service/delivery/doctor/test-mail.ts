/** One mail that looks like a survey and says that it is a test. */
import { type Clock, unixSeconds } from "../../../runtime/clock.ts";
import { onAbort } from "../../../runtime/on-abort.ts";
import type { Random } from "../../../runtime/random.ts";
import { sampleSurvey } from "../../domain/surveys/preview.ts";
import { type DkimKey, signMail } from "../mail/dkim.ts";
import { renderMail } from "../message/render-mail.ts";
import { freezeMail, type MailContext, toFrozenMessage } from "../message/survey-mail.ts";
import { createSmtpTransport } from "../smtp/smtp-transport.ts";
import type { SmtpResult } from "../smtp/smtp-types.ts";
import type { SmtpServer } from "../smtp/smtp-url.ts";

export interface TestMailOptions {
  readonly to: string;
  readonly context: MailContext;
  readonly server: SmtpServer;
  readonly certificates: string | null;
  readonly key: DkimKey | null;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

export interface TestMailResult {
  readonly subject: string;
  readonly messageId: string;
  readonly result: Exclude<SmtpResult, { kind: "withdrawn" }>;
}

const MARK = "X-Surveyctl-Test: yes\r\n";
const SUBJECT_PREFIX = "[Test] ";

/** Sends it once, whatever the reply is. Its links lead to the preview page. Rejects when the signal ends it first. */
export async function sendTestMail(options: TestMailOptions): Promise<TestMailResult> {
  const { context, key, random, clock, server, certificates, signal } = options;
  const now = unixSeconds(clock);
  const person = { id: 0, email: options.to, name: null, phoneNumber: null };
  const survey = sampleSurvey({ person, now });
  const frozen = freezeMail(survey, context, random, now);
  const subject = `${SUBJECT_PREFIX}${frozen.subject}`;
  const marked = { ...survey, frozen: toFrozenMessage({ ...frozen, subject }, null) };
  const { message } = await renderMail(marked, context, { random, now, key: null });
  const text = MARK + Buffer.from(message.bytes).toString("utf8");
  const bytes = Buffer.from(key === null ? text : await signMail(text, key), "utf8");
  const timeouts = { drain: 0 };
  const transport = createSmtpTransport({ server, certificates, connections: 1, clock, timeouts });
  const stopWaiting = onAbort(signal, () => void transport.close());
  try {
    const result = await transport.send(
      { ...message, bytes },
      { mayStillSend: async () => !signal.aborted, transmitting: async () => signal.throwIfAborted() },
    );
    signal.throwIfAborted();
    if (result.kind === "withdrawn") throw new Error("the test mail was withdrawn");
    return { subject, messageId: frozen.messageId, result };
  } finally {
    stopWaiting();
    await transport.close();
  }
}
