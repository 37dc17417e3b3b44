import { unixSeconds } from "../../../runtime/clock.ts";
import type { Random } from "../../../runtime/random.ts";
import { sampleSurvey } from "../../domain/surveys/preview.ts";
import { type DkimKey, signMail } from "../mail/dkim.ts";
import { renderMail } from "../message/render-mail.ts";
import { freezeMail, toFrozenMessage } from "../message/survey-mail.ts";
import type { MailContext } from "../message/sender.ts";
import { type OnceOptions, type OnceResult, sendOnce } from "../smtp/send-once.ts";

export interface TestMailOptions extends OnceOptions {
  readonly to: string;
  readonly context: MailContext;
  readonly key: DkimKey | null;
  readonly random: Random;
}

export interface TestMailResult {
  readonly subject: string;
  readonly messageId: string;
  readonly result: OnceResult;
}

const MARK = "X-Surveyctl-Test: yes\r\n";
const SUBJECT_PREFIX = "[Test] ";

/** Sends it once, whatever the reply is. Its links lead to the preview page. Rejects when the signal ends it first. */
export async function sendTestMail(options: TestMailOptions): Promise<TestMailResult> {
  const { context, key, random, clock } = options;
  const now = unixSeconds(clock);
  const person = { id: 0, email: options.to, name: null, phoneNumber: null };
  const survey = sampleSurvey({ person, now });
  const frozen = freezeMail(survey, context, random, now);
  const subject = `${SUBJECT_PREFIX}${frozen.subject}`;
  const marked = { ...survey, frozen: toFrozenMessage({ ...frozen, subject }, null) };
  const { message } = await renderMail(marked, context, { random, now, key: null });
  const text = MARK + Buffer.from(message.bytes).toString("utf8");
  const bytes = Buffer.from(key === null ? text : await signMail(text, key), "utf8");
  return { subject, messageId: frozen.messageId, result: await sendOnce({ ...message, bytes }, options) };
}
