/** The survey as a text message: section 2 "Special properties" and the rules of delivery. */
import type { DueSurvey } from "../../domain/ports.ts";
import { readSpecialProperties } from "../../domain/surveys/special-properties.ts";
import { multiLine, singleLine } from "../../domain/texts/plain-text.ts";
import { surveyQuestion, surveyTexts } from "../../domain/texts/survey-texts.ts";

export function formatSurveySms(due: DueSurvey, appUrl: string): string {
  const { locale, introMessage, productName } = readSpecialProperties(due.properties);
  const product = singleLine(productName ?? "");
  const question = surveyQuestion(surveyTexts(locale), product === "" ? null : product);
  const lines = [multiLine(introMessage ?? ""), question, `${appUrl}/s/${due.token}`];
  const text = lines.filter((line) => line !== "").join("\n");
  return `${JSON.stringify({ to: due.person.phoneNumber, text }, null, 2)}\n`;
}
