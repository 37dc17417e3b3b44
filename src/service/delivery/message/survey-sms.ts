/** The survey as a text message, and what is texted back: section 2 "Special properties" and the rules of delivery. */
import type { DueQuestion, DueReply } from "../../domain/ports.ts";
import { readSpecialProperties } from "../../domain/surveys/special-properties.ts";
import { multiLine, singleLine } from "../../domain/texts/plain-text.ts";
import type { SmsMode } from "../sms/formats.ts";
import { fillText, surveyQuestion, surveyTexts } from "../../domain/texts/survey-texts.ts";

export interface SmsContext {
  /** The beginning of links. */
  readonly appUrl: string;
  readonly mode: SmsMode;
  /** The name of the sender in the texts. */
  readonly sender: string;
}

/** Of a conversation, the question comes with who asks, how to answer and how to stop. */
export function surveySms(
  due: Pick<DueQuestion, "properties" | "token" | "channel">,
  { appUrl, mode, sender }: SmsContext,
): string {
  const { locale, introMessage, productName } = readSpecialProperties(due.properties);
  const texts = surveyTexts(locale);
  const product = singleLine(productName ?? "");
  const question = surveyQuestion(texts, product === "" ? null : product);
  const last = mode === "link" ? `${appUrl}/s/${due.token}` : fillText(texts.smsHelp, { sender: singleLine(sender) });
  const reminder = due.channel === "sms-reminder" ? texts.reminder : "";
  return [reminder, multiLine(introMessage ?? ""), question, last].filter((line) => line !== "").join("\n");
}

export function replySms(
  { kind, score, properties }: Pick<DueReply, "kind" | "score" | "properties">,
  sender: string,
): string {
  const { locale, thankYouMessage } = readSpecialProperties(properties);
  const texts = surveyTexts(locale);
  const thanks = multiLine(thankYouMessage ?? "");
  const forms = {
    "ask-comment": texts.smsAskComment,
    "ask-again": texts.smsAskAgain,
    help: texts.smsHelp,
    stopped: texts.smsStopped,
    started: texts.resubscribed,
  };
  if (kind === "thanks") return thanks === "" ? texts.smsThanks : thanks;
  return fillText(forms[kind], { sender: singleLine(sender), score: score ?? "" });
}

/** As the outbox has it. */
export function formatSurveySms(due: DueQuestion, appUrl: string): string {
  const text = surveySms(due, { appUrl, mode: "link", sender: "" });
  return `${JSON.stringify({ to: due.person.phoneNumber, text }, null, 2)}\n`;
}
