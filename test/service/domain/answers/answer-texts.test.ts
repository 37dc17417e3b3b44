import { expect, test } from "vitest";
import { readAnswerTexts, toAdditionalAnswers } from "../../../../src/service/domain/answers/answer-texts.ts";
import type { Question } from "../../../../src/service/domain/questions/question-rows.ts";
import type { TextsByQuestion } from "../../../../src/service/domain/inputs.ts";

const MANY: Question = {
  id: "q",
  type: "select_many",
  text: "What counts?",
  choices: [
    { id: "c1", text: "Speed" },
    { id: "c2", text: "Speed; reliability" },
    { id: "c3", text: "Price" },
  ],
  lastChoice: 3,
  scale: null,
  to: null,
  texts: { de: { text: "Was zählt?", choices: { c2: "Tempo; Verlass" } } },
  position: 1,
  retiredAt: null,
};
const valueOf = (question: Question, text: TextsByQuestion[string]) =>
  toAdditionalAnswers([question], { q: text }, 7)[0]?.value;
const chosen = (text: TextsByQuestion[string]) => valueOf(MANY, text)?.select_many?.map(({ id }) => id);

test.each<[TextsByQuestion[string], string[]]>([
  ["Price; Speed", ["c3", "c1"]],
  ["Speed; reliability", ["c2"]],
  ["Speed; reliability; Speed", ["c2", "c1"]],
  ["Tempo; Verlass; c3", ["c2", "c3"]],
  ["Speed; reliability of all", ["c1", "reliability of all"]],
  ["Other; Price; ", ["Other", "c3"]],
  ["Price; ; Speed", ["c3", "c1"]],
  [
    ["Speed", "reliability; of all"],
    ["c1", "reliability; of all"],
  ],
  [["Price"], ["c3"]],
])("when many are chosen as %j, then they are %j", (text, expected) => {
  expect(chosen(text)).toEqual(expected);
});

test("when a question has one answer, then a list is one text", () => {
  expect(valueOf({ ...MANY, type: "free_response" }, ["a", "b"])?.free_response).toBe("a; b");
  expect(valueOf({ ...MANY, type: "select_one" }, ["Price"])?.select_one?.id).toBe("c3");
  expect(toAdditionalAnswers([MANY], { q: [] }, 7)).toEqual([]);
});

const SCALE: Question = { ...MANY, type: "scale", choices: [], scale: { from: 1, to: 5 }, texts: {} };

test.each<[string, unknown]>([
  ["1", ["scale", { scale: 1 }]],
  [" 05 ", ["scale", { scale: 5 }]],
  ["0", ["free_response", { free_response: "0" }]],
  ["44", ["free_response", { free_response: "44" }]],
  ["4.5", ["free_response", { free_response: "4.5" }]],
  ["very easy", ["free_response", { free_response: "very easy" }]],
])(
  "when %j answers a scale from 1 to 5, then a number of the scale is one, and anything else is words",
  (text, expected) => {
    const [answer] = toAdditionalAnswers([SCALE], { q: text }, 7);
    const given = Object.entries(answer?.value ?? {}).filter(([, value]) => value !== null);
    expect([answer?.question.type, Object.fromEntries(given)]).toEqual(expected);
  },
);

test("when a list of texts has blank ones, then they are no answers", () => {
  expect(readAnswerTexts({ q: ["Price", null, " "], r: [null], s: null })).toEqual({ q: ["Price"], r: [], s: "" });
});
