/** Surveys as text messages, and the replies to them (section 2 "Special properties"). */
import type { DueQuestion, DueReply } from "../../domain/ports.ts";
import { NO_PRESENTATION, type Presentation } from "../../domain/projects/presentation.ts";
import { readSurveyWords } from "../../domain/surveys/survey-words.ts";
import { multiLine, singleLine } from "../../domain/texts/plain-text.ts";
import type { SmsMode } from "../sms/formats.ts";
import { fillText, surveyQuestion, surveyTexts } from "../../domain/texts/survey-texts.ts";
import type { SurveyTexts } from "../../domain/texts/languages.ts";

export interface SmsSender {
  readonly sender: string;
  readonly presentation?: Presentation;
}

export interface SmsContext extends SmsSender {
  readonly appUrl: string;
  readonly mode: SmsMode;
  /** Whether people can reply to the sender; if not, they unsubscribe on the linked page. */
  readonly canReply: boolean;
}

export function surveySms(
  due: Pick<DueQuestion, "properties" | "token" | "channel">,
  { appUrl, mode, sender, canReply, presentation = NO_PRESENTATION }: SmsContext,
): string {
  const words = readSurveyWords(due.properties, presentation);
  const texts = surveyTexts(words.locale);
  const name = singleLine(sender);
  const question = surveyQuestion(texts, words);
  const reminder = due.channel === "sms-reminder" ? texts.reminder : "";
  const intro = joinLines(reminder, multiLine(words.introMessage ?? ""));
  if (mode === "conversation") return joinLines(intro, question, `${name}: ${howToReply(texts)}`);
  const isNamed = `${intro}\n${question}`.toLowerCase().includes(name.toLowerCase());
  const asked = isNamed ? question : `${name}: ${question}`;
  return joinLines(intro, asked, `${appUrl}/s/${due.token}`, canReply ? texts.smsOptOut : "");
}

function howToReply({ smsAskAgain, smsOptOut }: SurveyTexts): string {
  return `${smsAskAgain} ${smsOptOut}`;
}

function joinLines(...lines: readonly string[]): string {
  return lines.filter((line) => line !== "").join("\n");
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
    unclear: `{sender}: ${texts.smsOptOut}`,
    help: `{sender}: ${howToReply(texts)}`,
    stopped: texts.smsStopped,
    started: texts.resubscribed,
  };
  const thanked = thanks === "" ? texts.smsThanks : thanks;
  if (kind === "thanks") return thanked;
  // The person has already given a score, so the text was stored as its comment.
  if (kind === "unclear" && score !== null) return `${thanked} ${texts.smsOptOut}`;
  return fillText(forms[kind], { sender: singleLine(sender), score: score ?? "" });
}

export function formatSurveySms(due: DueQuestion, context: Pick<SmsContext, "appUrl" | "presentation">): string {
  const text = surveySms(due, { ...context, mode: "link", sender: "", canReply: false });
  return `${JSON.stringify({ to: due.person.phoneNumber, text }, null, 2)}\n`;
}
