import { type Clock, unixSeconds } from "../../../runtime/clock.ts";
import type { Random } from "../../../runtime/random.ts";
import { sampleSurvey } from "../../domain/surveys/preview.ts";
import { renderMail } from "../message/render-mail.ts";
import type { MailContext } from "../message/sender.ts";
import { freezeMail, toFrozenMessage } from "../message/survey-mail.ts";

const MARK = "X-Surveyctl-Test: yes\r\n";
const SUBJECT_PREFIX = "[Test] ";

export async function composeTestMail(
  to: string,
  context: MailContext,
  { random, clock }: { readonly random: Random; readonly clock: Clock },
) {
  const now = unixSeconds(clock);
  const survey = sampleSurvey({ person: { id: 0, email: to, name: null, phoneNumber: null }, now });
  const frozen = freezeMail(survey, context, random, now);
  const subject = `${SUBJECT_PREFIX}${frozen.subject}`;
  const marked = { ...survey, frozen: toFrozenMessage({ ...frozen, subject }, null) };
  const { message } = await renderMail(marked, context, { random, now, key: null });
  const text = MARK + Buffer.from(message.bytes).toString("utf8");
  return { subject, message_id: frozen.messageId, mail: { from: message.from, to: message.to, text } };
}
