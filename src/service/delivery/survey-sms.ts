/** The survey as a text message: what an SMS gateway is posted, `{to, text}`. */
import type { DueSurvey } from "../domain/ports.ts";
import { readSpecialProperties } from "../domain/special-properties.ts";
import { surveyQuestion } from "./survey-mail.ts";
import { surveyTexts } from "./survey-texts.ts";

export function formatSurveySms(due: DueSurvey, appUrl: string): string {
  const special = readSpecialProperties(due.properties);
  const { texts } = surveyTexts(special.locale);
  const lines = [special.introMessage, surveyQuestion(special, texts), `${appUrl}/s/${due.token}`];
  const text = lines.filter((line) => line !== null).join("\n");
  return `${JSON.stringify({ to: due.person.phoneNumber, text }, null, 2)}\n`;
}
