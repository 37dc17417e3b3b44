import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, test } from "vitest";
import { HELP_COMMON, LOCALE_WORDS, START_COMMON, STOP_COMMON } from "../../../../src/service/domain/sms/keywords.ts";
import { LOCALES, type Locale } from "../../../../src/contract/locales.ts";
import {
  fillText,
  surveyQuestion,
  surveyTexts,
  textDirection,
} from "../../../../src/service/domain/texts/survey-texts.ts";
import { escapeHtml } from "../../../../src/contract/text/html.ts";
import { multiLine, singleLine } from "../../../../src/service/domain/texts/plain-text.ts";

const ENGLISH = surveyTexts("en");
const NAMES = Object.keys(ENGLISH) as (keyof typeof ENGLISH)[];
const OTHERS = LOCALES.filter((locale) => locale !== "en");
const SAME_AS_ENGLISH = new Set(["da send", "es errorTitle"]);
const SCRIPTS: Partial<Record<Locale, RegExp>> = {
  ar: /\p{Script_Extensions=Arabic}/u,
  bg: /\p{Script=Cyrillic}/u,
  "zh-CN": /\p{Script=Han}/u,
  "zh-HK": /\p{Script=Han}/u,
  "zh-TW": /\p{Script=Han}/u,
  ka: /\p{Script=Georgian}/u,
  el: /\p{Script=Greek}/u,
  he: /\p{Script=Hebrew}/u,
  ja: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/u,
  ko: /\p{Script=Hangul}/u,
  ru: /\p{Script=Cyrillic}/u,
  sr: /\p{Script=Cyrillic}/u,
  th: /\p{Script=Thai}/u,
};
/** Keywords that phones recognize, and a word that Greek spells in Latin letters. */
const FOREIGN = /\{\w+\}|STOP|START|\bemail\b/g;

const placeholders = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).toSorted();

describe.each(LOCALES)("the texts in %s", (locale) => {
  const texts = surveyTexts(locale);

  test("have every text, without blanks at the ends, and with the placeholders of English", () => {
    expect(Object.keys(texts).toSorted()).toEqual(NAMES.toSorted());
    expect(NAMES.filter((name) => !/^\S(?:.*\S)?$/.test(texts[name]))).toEqual([]);
    const unlike = NAMES.filter((name) => String(placeholders(texts[name])) !== String(placeholders(ENGLISH[name])));
    expect(unlike).toEqual([]);
  });

  test("name the button by its label", () => {
    expect(texts.youChose).toContain(texts.send);
  });

  test("are in one script", () => {
    const script = SCRIPTS[locale] ?? /\p{Script=Latin}/u;
    const wrong = NAMES.flatMap((name) => {
      const letters = texts[name].replaceAll(FOREIGN, "").match(/\p{L}/gu) ?? [];
      return letters.filter((letter) => !script.test(letter)).map((letter) => `${name}: ${letter}`);
    });
    expect(wrong).toEqual([]);
    expect(script.test(texts.question)).toBe(true);
  });

  test("fit where they are shown", () => {
    expect(texts.subject.length).toBeLessThanOrEqual(60);
    expect(texts.notLikely.length).toBeLessThanOrEqual(40);
    const sms = ["smsAskComment", "smsThanks", "smsAskAgain", "smsOptOut", "smsStopped"] as const;
    const long = sms.filter((name) => {
      // Two segments in the text's alphabet, with a 20-character sender.
      const text = fillText(texts[name], { sender: "x".repeat(20), score: 10 });
      return text.length > (/^[\x20-\x7eäöüñàèéùìòåæøÄÖÜÑÅÆØÉß¿¡]*$/.test(text) ? 306 : 134);
    });
    expect(long).toEqual([]);
  });
});

test("when a language is not English, then no text of it is", () => {
  const same = OTHERS.flatMap((locale) =>
    NAMES.filter((name) => surveyTexts(locale)[name] === ENGLISH[name]).map((name) => `${locale} ${name}`),
  );
  expect(new Set(same)).toEqual(SAME_AS_ENGLISH);
});

test("when two languages are compared, then they do not ask in the same words", () => {
  expect(new Set(LOCALES.map((locale) => surveyTexts(locale).question)).size).toBe(LOCALES.length);
});

describe("the page of languages", () => {
  const page = readFileSync(path.join(import.meta.dirname, "../../../../docs/locales.md"), "utf8");

  it("when it is read, then it names each of them once", () => {
    expect([...page.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, locale]) => locale)).toEqual([...LOCALES]);
  });

  it("when it lists the words of text messages, then they are those that are understood", () => {
    const rows = LOCALES.map((locale) => {
      const { stop, start = "", help } = LOCALE_WORDS[locale];
      return `| ${[locale, stop, start, help].join(" | ")} |`.replaceAll("|  |", "| |");
    });
    expect(page.split("\n").filter((line) => /^\| [a-z]{2}[\w-]* \|/.test(line))).toEqual(rows);
    const common = [STOP_COMMON, START_COMMON, HELP_COMMON].map((words) => words.join(", "));
    expect([...page.matchAll(/^- [a-z ]+: ([A-Z, ]+)$/gm)].map(([, words]) => words)).toEqual(common);
  });
});

test("when text runs from right to left, then that is said of it", () => {
  expect(LOCALES.filter((locale) => textDirection(locale) === "rtl")).toEqual(["ar", "he"]);
});

it("when a product's name holds what looks like a placeholder or a pattern, then it is shown as it is", () => {
  expect(surveyQuestion(ENGLISH, { productName: "$& {product}", question: null })).toBe(
    "How likely are you to recommend $& {product} to a friend?",
  );
  expect(surveyQuestion(ENGLISH, { productName: null, question: null })).toBe(
    "How likely are you to recommend us to a friend?",
  );
  expect(fillText("{score} of {max}", { score: 0 })).toBe("0 of {max}");
});

it("when a product's name turns the direction of text or breaks the line, then the question does not", () => {
  expect(surveyQuestion(ENGLISH, { productName: "Ska\u202etes\u2028 2", question: null })).toBe(
    "How likely are you to recommend Skates 2 to a friend?",
  );
  expect(surveyQuestion(ENGLISH, { productName: "\u202e ", question: null })).toBe(
    "How likely are you to recommend us to a friend?",
  );
});

it.each([
  ["Would you recommend {product} to a colleague?", "Skates", "Would you recommend Skates to a colleague?"],
  ["Would you recommend {product} to a colleague?", "{product} $&", "Would you recommend {product} $& to a colleague?"],
  ["Would you recommend {product} to a colleague?", null, "How likely are you to recommend us to a friend?"],
  ["Would you recommend us?", null, "Would you recommend us?"],
  ["Would you recommend\u202e\nus?", "Skates", "Would you recommend us?"],
])("the question %j about %j is %j", (question, productName, expected) => {
  expect(surveyQuestion(ENGLISH, { productName, question })).toBe(expected);
});

it.each([
  ["line breaks", "a\r\nb\u2028c\u0085d", "a b c d", "a\nb\nc\nd"],
  ["turned text", "ab\u202egpj.exe\u2066\u200f", "abgpj.exe", "abgpj.exe"],
  ["control characters", "\u0000a\u001b[31m\tb ", "a [31m b", "a [31m\tb"],
  ["emoji and joiners", "👩\u200d💻", "👩\u200d💻", "👩\u200d💻"],
])("when text holds %s, then what is harmful of it goes", (_, text, line, lines) => {
  expect([singleLine(text), multiLine(text)]).toEqual([line, lines]);
});

it("when text holds HTML, then it is shown as text", () => {
  expect(escapeHtml(`<a href="x" b='y'>&amp;`)).toBe("&#60;a href=&#34;x&#34; b=&#39;y&#39;&#62;&#38;amp;");
});
