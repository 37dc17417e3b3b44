import { beforeEach, describe, expect, it, test } from "vitest";
import type { WantedQuestion } from "../../../../src/service/domain/questions/check-question.ts";
import { applyQuestions, configuredQuestions } from "../../../../src/service/domain/questions/configure.ts";
import {
  addQuestion,
  moveQuestion,
  retireQuestion,
  translateQuestion,
} from "../../../../src/service/domain/questions/questions.ts";
import { type Fixture, openFixture } from "../fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});

const wanted = (given: Partial<WantedQuestion> = {}): WantedQuestion => {
  return { type: "free_response", text: "What should we improve?", choices: [], scale: null, to: null, ...given };
};
const CHOICE = { type: "select_one", text: "Which?", choices: ["Price", "Support"] } as const;
const add = (given: Partial<WantedQuestion> = {}) =>
  fixture.write((tx) => addQuestion(tx, fixture.project, wanted(given)));
const list = () => fixture.read((tx) => tx.questions.list(fixture.project.id));
const places = async () => (await list()).map(({ id, position }) => [id, position]);
const apply = (questions: Parameters<typeof applyQuestions>[2]) =>
  fixture.write((tx) => applyQuestions(tx, fixture.project, questions, (_, work) => work()));
const translate = (texts: { text: string; choices: string[] } | null) =>
  fixture.write((tx) => translateQuestion(tx, fixture.project, "q", { locale: "de", texts }));
const choose = async (...choices: string[]) => {
  await apply([{ id: "q", type: "select_one", text: "Which?", choices }]);
  return (await list())[0]?.choices.map(({ id, text }) => `${id} ${text}`);
};

test("when questions are added, then they have ids and places, and choices have ids in order", async () => {
  await add();
  await add({ ...CHOICE, id: "q_which", to: [{ from: 0, to: 6 }] });
  await add({ type: "scale", text: "How easy?", scale: { from: 1, to: 5 } });
  expect(await list()).toEqual([
    {
      id: "q1",
      type: "free_response",
      text: "What should we improve?",
      choices: [],
      lastChoice: 0,
      scale: null,
      to: null,
      texts: {},
      position: 1,
      retiredAt: null,
    },
    {
      id: "q_which",
      type: "select_one",
      text: "Which?",
      choices: [
        { id: "c1", text: "Price" },
        { id: "c2", text: "Support" },
      ],
      lastChoice: 2,
      scale: null,
      to: [{ from: 0, to: 6 }],
      texts: {},
      position: 2,
      retiredAt: null,
    },
    {
      id: "q2",
      type: "scale",
      text: "How easy?",
      choices: [],
      lastChoice: 0,
      scale: { from: 1, to: 5 },
      to: null,
      texts: {},
      position: 3,
      retiredAt: null,
    },
  ]);
});

describe("what is wrong with a question", () => {
  const MANY = Array.from({ length: 21 }, (_, at) => `Choice ${at}`);
  it.each<[string, Partial<WantedQuestion>, string]>([
    ["no text", { text: " " }, "text can't be blank"],
    ["a long text", { text: "x".repeat(501) }, "text is too long (maximum is 500 characters)"],
    ["two lines", { text: "a\nb" }, "text must be one line without control characters"],
    ["half a character", { text: "a\ud800" }, "text must not have null characters or halves of surrogate pairs"],
    ["a bad id", { id: "Q 1" }, "id must be 1 to 40 characters of a to z, 0 to 9, _ and -"],
    ["a long id", { id: "q".repeat(41) }, "id must be 1 to 40 characters of a to z, 0 to 9, _ and -"],
    ["no choices", { type: "select_many" }, "choices must be 2 to 20 (got 0)"],
    ["one choice", { type: "select_one", choices: ["A"] }, "choices must be 2 to 20 (got 1)"],
    ["many choices", { type: "select_one", choices: MANY }, "choices must be 2 to 20 (got 21)"],
    ["a choice twice", { type: "select_one", choices: ["A", "A"] }, 'choices must differ: "A" is there twice'],
    ["a blank choice", { type: "select_one", choices: ["A", ""] }, "choice 2 can't be blank"],
    [
      "a long choice",
      { type: "select_one", choices: ["A", "x".repeat(201)] },
      "choice 2 is too long (maximum is 200 characters)",
    ],
    [
      "a blank translated choice",
      { ...CHOICE, texts: { de: { text: "Was?", choices: ["Preis", " "] } } },
      "texts.de choice 2 can't be blank",
    ],
    ["choices of a free question", { choices: ["A", "B"] }, "choices are only for select_one and select_many"],
    ["a scale of a choice", { ...CHOICE, scale: { from: 1, to: 5 } }, "scale is only for questions of type scale"],
    ["no scale", { type: "scale" }, "scale is required: a scale from 0 or 1 to at most 10, such as 1-5"],
    [
      "a scale from 2",
      { type: "scale", scale: { from: 2, to: 5 } },
      "scale must be a scale from 0 or 1 to at most 10, such as 1-5",
    ],
    [
      "a scale to 11",
      { type: "scale", scale: { from: 1, to: 11 } },
      "scale must be a scale from 0 or 1 to at most 10, such as 1-5",
    ],
    ["an unknown locale", { texts: { xx: { text: "a", choices: [] } } }, "texts.xx is not a supported locale"],
    [
      "too few translated choices",
      { ...CHOICE, texts: { de: { text: "Was?", choices: ["Preis"] } } },
      "texts.de.choices must be as many as the question has, 2 (got 1)",
    ],
  ])("when it has %s, then one sentence says so and nothing is stored", async (_, given, message) => {
    await expect(add(given)).rejects.toMatchObject({ message });
    expect(await list()).toEqual([]);
  });

  it("when there are ten already, then the eleventh is refused", async () => {
    for (let count = 0; count < 10; count += 1) await add();
    await expect(add()).rejects.toThrow("questions can't be more than 10; retire one first");
    await fixture.write((tx) => retireQuestion(tx, fixture.project, "q3"));
    expect((await add()).id).toBe("q11");
  });

  it("when an id is taken, or was that of a retired question, then it is not given again", async () => {
    await add({ id: "q_a" });
    await expect(add({ id: "q_a" })).rejects.toThrow('a question with id "q_a" already exists');
    await fixture.write((tx) => retireQuestion(tx, fixture.project, "q_a"));
    await expect(add({ id: "q_a" })).rejects.toThrow("id was that of a retired question and is not used again");
    await expect(fixture.write((tx) => retireQuestion(tx, fixture.project, "q_a"))).rejects.toThrow(
      "question q_a is retired",
    );
    await expect(fixture.write((tx) => moveQuestion(tx, fixture.project, "q_b", 1))).rejects.toThrow(
      "project default has no question q_b",
    );
  });
});

test("when questions are moved and retired, then the places close up", async () => {
  for (const id of ["a", "b", "c"]) await add({ id });
  await fixture.write((tx) => moveQuestion(tx, fixture.project, "c", 1));
  expect(await places()).toEqual([
    ["c", 1],
    ["a", 2],
    ["b", 3],
  ]);
  await fixture.write((tx) => retireQuestion(tx, fixture.project, "a"));
  await fixture.write((tx) => moveQuestion(tx, fixture.project, "c", 9));
  expect(await places()).toEqual([
    ["b", 1],
    ["c", 2],
    ["a", null],
  ]);
});

test("when a question is translated, then each choice has its text, and an empty translation takes it back", async () => {
  await add({ ...CHOICE, id: "q" });
  await translate({ text: "Was?", choices: ["Preis", "Hilfe"] });
  expect((await list())[0]?.texts).toEqual({ de: { text: "Was?", choices: { c1: "Preis", c2: "Hilfe" } } });
  await expect(translate({ text: "Was?", choices: [] })).rejects.toThrow(
    "choices must be as many as the question has, 2 (got 0)",
  );
  await translate(null);
  expect((await list())[0]?.texts).toEqual({});
});

describe("when a file of settings is applied", () => {
  it("then its questions are asked in its order, and one that it leaves out is retired", async () => {
    await add({ id: "q_old" });
    await add({ ...CHOICE, id: "q_which" });
    await apply([
      { type: "scale", text: "How easy?", scale: { from: 0, to: 10 }, to: [{ from: 9, to: 10 }] },
      { id: "q_which", type: "select_one", text: "Which one?", choices: ["Support", "Price", "Speed"] },
    ]);
    expect(await places()).toEqual([
      ["q1", 1],
      ["q_which", 2],
      ["q_old", null],
    ]);
    const [, which] = await list();
    expect(which?.text).toBe("Which one?");
    expect(which?.choices).toEqual([
      { id: "c2", text: "Support" },
      { id: "c1", text: "Price" },
      { id: "c3", text: "Speed" },
    ]);
  });

  it("then what is read can be applied again and changes nothing", async () => {
    await add({ ...CHOICE, id: "q", texts: { de: { text: "Was?", choices: ["Preis", "Hilfe"] } } });
    const before = await list();
    const configured = await fixture.read((tx) => configuredQuestions(tx, fixture.project));
    await apply(configured);
    expect(await list()).toEqual(before);
  });

  it("then a choice that is worded anew keeps its id, and one that comes later gets none that was used", async () => {
    await add({ ...CHOICE, id: "q" });
    expect(await choose("Prices", "Support", "Speed")).toEqual(["c1 Prices", "c2 Support", "c3 Speed"]);
    expect(await choose("Prices", "Support")).toEqual(["c1 Prices", "c2 Support"]);
    expect(await choose("Prices", "Support", "Other")).toEqual(["c1 Prices", "c2 Support", "c4 Other"]);
  });

  it("then a question without an id is the one with its text", async () => {
    await add({ text: "Same?" });
    await apply([{ type: "free_response", text: "Same?", to: [{ from: 0, to: 6 }] }]);
    expect((await list()).map(({ id, to }) => [id, to])).toEqual([["q1", [{ from: 0, to: 6 }]]]);
  });

  it("then another type, and more than ten, are refused", async () => {
    await add({ id: "q" });
    await expect(apply([{ id: "q", type: "scale", text: "a", scale: { from: 1, to: 5 } }])).rejects.toThrow(
      "type can't change from free_response; retire the question and make another",
    );
    const many = Array.from({ length: 11 }, (_, at) => ({ type: "free_response" as const, text: `${at}?` }));
    await expect(apply(many)).rejects.toThrow("questions can't be more than 10 (got 11)");
    expect(await places()).toEqual([["q", 1]]);
  });
});
