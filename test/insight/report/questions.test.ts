import { expect, it } from "vitest";
import type { JsonObject } from "../../../src/contract/json.ts";
import type { ShownTexts } from "../../../src/insight/answers/shown-texts.ts";
import { createAnswerTally } from "../../../src/insight/answers/answer-tally.ts";
import { questionBlock, questionRow, questionSections, questionText } from "../../../src/insight/report/questions.ts";

const EVIL = "</section><script>\u0007";
const NONE = { free_response: null, scale: null, select_one: null, select_many: null };

function response(id: number, score: number, value: JsonObject, question: JsonObject): JsonObject {
  return { id: String(id), score, additional_answers: [{ id: "1", value: { ...NONE, ...value }, question }] };
}

const CHOICE = { id: "q1", type: "select_one", text: EVIL };
const SCALE = { id: "q2", type: "scale", text: "How easy?" };
const ROWS: readonly JsonObject[] = [
  response(1, 9, { select_one: { id: "c1", text: EVIL } }, CHOICE),
  response(2, 3, { select_one: { id: "c2", text: "Support" } }, CHOICE),
  // The same choice in another language.
  response(3, 9, { select_one: { id: "c2", text: "Hilfe" } }, CHOICE),
  response(4, 10, { select_one: { id: "c2", text: "Support" } }, CHOICE),
  response(5, 7, { scale: 2 }, SCALE),
  response(6, 7, { scale: 4 }, SCALE),
  { id: "7", score: 5, additional_answers: ["no object", { id: "1" }, null] },
];
const tally = createAnswerTally();
for (const row of ROWS) tally.add(row);
const results = tally.results(1);

it("when answers are counted, then a choice is one row in all languages, and odd rows are left out", () => {
  expect(results.map(({ question, answered }) => [question, answered])).toEqual([
    ["q1", 4],
    ["q2", 2],
  ]);
  expect(results[0]?.values.map(({ value, n, share, nps }) => [value, n, share, nps])).toEqual([
    ["Support", 3, 0.75, 100 / 3],
    [EVIL, 1, 0.25, 100],
  ]);
  expect(results[1]?.mean).toMatchObject({ mean: 3 });
});

it("when a question was asked in two languages, then its text is the one that most were asked", () => {
  const languages = createAnswerTally();
  for (const [at, text] of ["Wie einfach?", "How easy?", "How easy?", "Wie einfach?", "How easy?", "Wie?"].entries())
    languages.add(response(at, 9, { scale: 3 }, { ...SCALE, text }));
  expect(languages.results(1).map(({ text, answered }) => [text, answered])).toEqual([["How easy?", 6]]);
});

it("when some answered a scale in words, then words and numbers are counted apart", () => {
  const mixed = createAnswerTally();
  const words = { free_response: "very easy" };
  for (const value of [{ scale: 2 }, words, { scale: 4 }])
    mixed.add(
      response(mixed.results(1).length, 9, value, { ...SCALE, type: "scale" in value ? "scale" : "free_response" }),
    );
  expect(
    mixed.results(1).map((one) => [one.question, one.type, one.answered, one.values.length, one.mean?.mean ?? null]),
  ).toEqual([
    ["q2", "scale", 2, 2, 3],
    ["q2", "free_response", 1, 0, null],
  ]);
});

it("when two groups are counted with the same texts, then a choice has one name in both", () => {
  const texts: ShownTexts = new Map();
  const groups = [createAnswerTally(null, texts), createAnswerTally(null, texts)];
  const shown = [
    ["Support", "Hilfe"],
    ["Hilfe", "Hilfe"],
  ];
  for (const [at, group] of groups.entries())
    for (const text of shown[at] ?? []) group.add(response(at, 9, { select_one: { id: "c2", text } }, CHOICE));
  const names = groups.map((group) =>
    group.results(1).flatMap(({ values }) => values.map(({ value, n }) => [value, n])),
  );
  expect(names).toEqual([[["Hilfe", 2]], [["Hilfe", 2]]]);
});

it("when they are drawn, then what people wrote stays text, and each part has a name of its own", () => {
  const page = questionSections(results)
    .map(({ text }) => text)
    .join("");
  expect(page.match(/<section/g)?.length).toBe(2);
  expect(page.includes("<script") || page.includes("\u0007")).toBe(false);
  const labels = [...page.matchAll(/aria-label="([^"]*)"/g)].map(([, label]) => label);
  expect(new Set(labels).size).toBe(2);
  const rows = results.map((result) => questionRow(result).text).join("");
  expect(rows.includes("<script") || rows.includes("\u0007")).toBe(false);
});

it("when they are told in a message, then each question is a few lines", () => {
  const lines = ["2 answers; mean 3.0, between 0.0 and 10.0 (95% interval)", "50% (1), NPS 0: 2", "50% (1), NPS 0: 4"];
  const [, scale] = results;
  if (scale === undefined) throw new Error("nothing was counted");
  expect(questionText(scale)).toEqual(["", "How easy?", ...lines.map((line) => `  ${line}`)]);
  expect(questionBlock(scale)).toEqual({
    type: "rich_text",
    elements: [
      { type: "rich_text_section", elements: [{ type: "text", text: "How easy?", style: { bold: true } }] },
      { type: "rich_text_quote", elements: [{ type: "text", text: lines.join("\n") }] },
    ],
  });
});
