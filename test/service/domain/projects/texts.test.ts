import { expect, test } from "vitest";
import type { Locale } from "../../../../src/contract/locales.ts";
import { NO_BRAND } from "../../../../src/service/domain/projects/brand.ts";
import { findText, type ProjectTexts, textProblem, TEXT_NAMES } from "../../../../src/service/domain/projects/texts.ts";
import { readSurveyWords } from "../../../../src/service/domain/surveys/survey-words.ts";

const NO_TEXTS = Object.fromEntries(TEXT_NAMES.map((name) => [name, null])) as unknown as ProjectTexts;
const texts = (locale: Locale | null, score: string | null, given: Partial<ProjectTexts>): ProjectTexts => ({
  ...NO_TEXTS,
  locale,
  score,
  ...given,
});

const ALL = [
  texts(null, null, { thank_you: "Thanks", subject: "How was it?" }),
  texts(null, "0-6", { thank_you: "Sorry" }),
  texts(null, "9-10", { thank_you: "Great" }),
  texts("de", null, { thank_you: "Danke" }),
  texts("de", "10", { thank_you: "Super" }),
];

test.each<[Locale, number | null, string]>([
  ["en", null, "Thanks"],
  ["en", 0, "Sorry"],
  ["en", 6, "Sorry"],
  ["en", 7, "Thanks"],
  ["en", 9, "Great"],
  ["en", 10, "Great"],
  ["de", null, "Danke"],
  ["de", 9, "Danke"],
  ["de", 10, "Super"],
  ["pt-BR", 10, "Great"],
])("when a survey speaks %s and the score is %s, then its thanks are %s", (locale, score, expected) => {
  expect(findText(ALL, "thank_you", { locale, score })).toBe(expected);
  expect(findText(ALL.toReversed(), "thank_you", { locale, score })).toBe(expected);
});

test("when a survey was given a property, then it wins over the project's text, and that over the brand", () => {
  const own = { brand: { ...NO_BRAND, name: "Acme" }, texts: [texts(null, null, { product_name: "Rockets" })] };
  expect(readSurveyWords({ question_product_name: "Skates" }, own).productName).toBe("Skates");
  expect(readSurveyWords({}, own).productName).toBe("Rockets");
  expect(readSurveyWords({}, { ...own, texts: [] }).productName).toBe("Acme");
  expect(readSurveyWords({ delighted_email_subject: "Old" }, { ...own, texts: ALL }).emailSubject).toBe("Old");
});

test.each([
  ["subject", "x".repeat(151), null, "is too long (maximum is 150 characters)"],
  ["subject", "😀".repeat(150), null, null],
  ["intro", "x".repeat(301), null, "is too long (maximum is 300 characters)"],
  ["thank_you", "x".repeat(2001), null, "is too long (maximum is 2000 characters)"],
  ["thank_you_link", "javascript:alert(1)", null, "is not a URL such as https://example.com"],
  ["thank_you_link", "example.com", "9-10", "is not a URL such as https://example.com"],
  ["thank_you_link", " https://example.com/a?b=c ", "9-10", null],
  ["subject", "Great", "9-10", "cannot depend on the score: it is shown before there is one"],
  ["comment_question", "", "9-10", null],
  ["question", "How likely are you to recommend {product}?", null, null],
  ["question", "x".repeat(201), null, "is too long (maximum is 200 characters)"],
  ["question", `{product}${"😀".repeat(191)}`, null, null],
  ["question", "Two\nlines?", null, "must be one line without control characters"],
  ["question", "Do you like {prodcut}?", null, "has {prodcut}, and only {product} is replaced"],
  ["question", "Great?", "9-10", "cannot depend on the score: it is shown before there is one"],
] as const)("when %s is %j for the scores %s, then its fault is %j", (name, text, score, expected) => {
  expect(textProblem(name, text, score)).toBe(expected);
});
