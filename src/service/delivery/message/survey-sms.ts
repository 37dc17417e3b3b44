/** The survey as a text message, and what is texted back: section 2 "Special properties" and the rules of delivery. */
import type { DueQuestion, DueReply } from "../../domain/ports.ts";
import { NO_PRESENTATION, type Presentation } from "../../domain/projects/presentation.ts";
import { readSurveyWords } from "../../domain/surveys/survey-words.ts";
import { multiLine, singleLine } from "../../domain/texts/plain-text.ts";
import type { SmsMode } from "../sms/formats.ts";
import { fillText, surveyQuestion, surveyTexts } from "../../domain/texts/survey-texts.ts";

export interface SmsSender {
  /** The name of the sender in the texts. */
  readonly sender: string;
  /** Absent: a project that has set nothing. */
  readonly presentation?: Presentation;
}

export interface SmsContext extends SmsSender {
  /** The beginning of links. */
  readonly appUrl: string;
  readonly mode: SmsMode;
}

/** Of a conversation, the question comes with who asks, how to answer and how to stop. */
export function surveySms(
  due: Pick<DueQuestion, "properties" | "token" | "channel">,
  { appUrl, mode, sender, presentation = NO_PRESENTATION }: SmsContext,
): string {
  const { locale, introMessage, productName } = readSurveyWords(due.properties, presentation);
  const texts = surveyTexts(locale);
  const question = surveyQuestion(texts, productName);
  const last = mode === "link" ? `${appUrl}/s/${due.token}` : fillText(texts.smsHelp, { sender: singleLine(sender) });
  const reminder = due.channel === "sms-reminder" ? texts.reminder : "";
  return [reminder, multiLine(introMessage ?? ""), question, last].filter((line) => line !== "").join("\n");
}

export function replySms(
  { kind, score, properties }: Pick<DueReply, "kind" | "score" | "properties">,
  { sender, presentation = NO_PRESENTATION }: SmsSender,
): string {
  const { locale, thankYouMessage, commentQuestion } = readSurveyWords(properties, presentation, score);
  const texts = surveyTexts(locale);
  const thanks = multiLine(thankYouMessage ?? "");
  const asked = singleLine(commentQuestion ?? "");
  if (kind === "ask-comment" && asked !== "") return asked;
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
export function formatSurveySms(due: DueQuestion, context: Pick<SmsContext, "appUrl" | "presentation">): string {
  const text = surveySms(due, { ...context, mode: "link", sender: "" });
  return `${JSON.stringify({ to: due.person.phoneNumber, text }, null, 2)}\n`;
}
