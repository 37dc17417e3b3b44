/** A project's own texts in text messages. */
import { expect, test } from "vitest";
import { replySms, surveySms } from "../../../../src/service/delivery/message/survey-sms.ts";
import { NO_PRESENTATION } from "../../../../src/service/domain/projects/presentation.ts";
import { type ProjectTexts, TEXT_NAMES } from "../../../../src/service/domain/projects/texts.ts";

const texts = (score: string | null, given: Partial<ProjectTexts>): ProjectTexts => ({
  ...(Object.fromEntries(TEXT_NAMES.map((name) => [name, null])) as unknown as ProjectTexts),
  locale: null,
  score,
  ...given,
});

const presentation = {
  ...NO_PRESENTATION,
  brand: { ...NO_PRESENTATION.brand, name: "Acme" },
  texts: [
    texts(null, { intro: "Hello!", thank_you: "Thanks" }),
    texts("0-6", { comment_question: "What went wrong?", thank_you: "We call you." }),
  ],
};
const context = { sender: "Acme", presentation };

test("when a survey is a text, then it has the intro, and the question names the brand", () => {
  const survey = { token: "TOKEN", properties: {}, channel: "sms" } as const;
  expect(surveySms(survey, { ...context, appUrl: "https://acme.example", mode: "link" })).toBe(
    "Hello!\nHow likely are you to recommend Acme to a friend?\nhttps://acme.example/s/TOKEN",
  );
});

test.each([
  ["ask-comment", 3, "What went wrong?"],
  ["ask-comment", 9, "You gave us 9. What is the main reason for your score?"],
  ["thanks", 3, "We call you."],
  ["thanks", 9, "Thanks"],
] as const)("when %s answers a %i, then it is %j", (kind, score, expected) => {
  expect(replySms({ kind, score, properties: {} }, context)).toBe(expected);
});
