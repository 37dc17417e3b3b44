import { describe, expect, it } from "vitest";
import { readAdditionalAnswer } from "../../src/contract/questions/read-answers.ts";
import type { Json } from "../../src/contract/json.ts";

const NO_VALUE = { free_response: null, scale: null, select_one: null, select_many: null };
const FAST = { id: "fast", text: "Fast" };
const question = (type: string) => ({ id: "q1", type, text: "Why?" });
const answer = (type: string, value: Json, more = {}): Json => ({
  id: "7-q1",
  value,
  question: question(type),
  ...more,
});

describe("an additional answer", () => {
  it.each<[string, Json, object]>([
    ["free_response", { free_response: "Fine" }, { free_response: "Fine" }],
    ["scale", { scale: 4, free_response: null }, { scale: 4 }],
    ["select_one", { select_one: { ...FAST, more: 1 } }, { select_one: FAST }],
    ["select_one", { select_one: { id: 3, text: "Fast" } }, { select_one: { id: "3", text: "Fast" } }],
    ["select_many", { select_many: [FAST] }, { select_many: [FAST] }],
    ["select_many", { select_many: [] }, { select_many: [] }],
    ["scale", {}, {}],
    // A saved text that doesn't fit the question.
    ["scale", { free_response: "four" }, { free_response: "four" }],
  ])("of type %s with %j has all four keys", (type, value, kept) => {
    expect(readAdditionalAnswer(answer(type, value, { later: 1 }))).toEqual({
      id: "7-q1",
      value: { ...NO_VALUE, ...kept },
      question: question(type),
    });
  });

  it.each<[string, Json]>([
    ["nothing", null],
    ["no id", { value: {}, question: question("scale") }],
    ["no value", { id: "1", question: question("scale") }],
    ["a list as its value", answer("scale", [4])],
    ["no question", { id: "1", value: {} }],
    ["another type", answer("stars", { scale: 4 })],
    ["a type that is inherited", answer("toString", { scale: 4 })],
    ["a question without a text", answer("scale", {}, { question: { id: "q1", type: "scale", text: null } })],
    ["a number as a text", answer("free_response", { free_response: 4 })],
    ["a text as a number", answer("scale", { scale: "4" })],
    ["half a point", answer("scale", { scale: 4.5 })],
    ["a choice without its text", answer("select_one", { select_one: { id: "fast" } })],
    ["a choice as a text", answer("select_one", { select_one: "Fast" })],
    ["choices that are none", answer("select_many", { select_many: [FAST, null] })],
    ["one choice as many", answer("select_many", { select_many: FAST })],
    ["two kinds at once", answer("scale", { scale: 4, free_response: "four" })],
  ])("with %s is none", (_, given) => {
    expect(readAdditionalAnswer(given)).toBeNull();
  });
});
