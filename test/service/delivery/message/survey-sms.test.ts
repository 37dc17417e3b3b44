import { expect, test } from "vitest";
import { replySms, surveySms } from "../../../../src/service/delivery/message/survey-sms.ts";
import { canBeTexted } from "../../../../src/service/delivery/sms/gateway.ts";
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

const survey = { token: "TOKEN", properties: {}, channel: "sms" } as const;
const link = { appUrl: "https://acme.example", mode: "link" } as const;

test("when a survey is a text, then it has the intro, and the question names the brand", () => {
  expect(surveySms(survey, { ...context, ...link, canReply: true })).toBe(
    "Hello!\nHow likely are you to recommend Acme to a friend?\nhttps://acme.example/s/TOKEN\nReply STOP to opt out.",
  );
});

test("a text names the sender if its words don't, and STOP only if the sender can be texted", () => {
  const question = "Acme: How likely are you to recommend us to a friend?\nhttps://acme.example/s/TOKEN";
  expect(surveySms(survey, { sender: "Acme", ...link, canReply: true })).toBe(`${question}\nReply STOP to opt out.`);
  expect(surveySms(survey, { sender: "Acme", ...link, canReply: false })).toBe(question);
});

test.each([
  [null, true],
  ["+15550100", true],
  ["+44 20 7946 0018", true],
  ["80888", true],
  ["whatsapp:+15550100", true],
  ["MG0123456789abcdef0123456789abcdef", true],
  ["Acme", false],
  ["4you", false],
])("whether people can text back to %j: %j", (from, expected) => {
  expect(canBeTexted(from)).toBe(expected);
});

test.each([
  ["ask-comment", 3, "What went wrong?"],
  ["ask-comment", 9, "You gave us 9. What is the main reason for your score?"],
  ["thanks", 3, "We call you."],
  ["thanks", 9, "Thanks"],
] as const)("when %s answers a %i, then it is %j", (kind, score, expected) => {
  expect(replySms({ kind, score, properties: {} }, context)).toBe(expected);
});
