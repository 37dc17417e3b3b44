import { describe, expect, it, test } from "vitest";
import { LOCALES } from "../../../../src/contract/locales.ts";
import { escapeHtml } from "../../../../src/contract/text/html.ts";
import { surveyTexts, textDirection } from "../../../../src/service/domain/texts/survey-texts.ts";
import { APP_URL, html, inLocale, TOKEN } from "./mailing.ts";

const WHOLE = {
  properties: { question_product_name: "Acme", service_intro_message: "Dear Ada,\n\nthank you. ".repeat(12) },
  sender: { footer: "Acme Ltd\n1 High Street" },
};
const SCORES = Array.from({ length: 11 }, (_, score) => score);

interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly style: Readonly<Record<string, string>>;
}

function toTag([, name = "", rest = ""]: RegExpExecArray): Tag {
  const attributes = Object.fromEntries(
    [...rest.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
  );
  const style = (attributes["style"] ?? "")
    .split(";")
    .map((rule: string) => rule.split(/:(.*)/s).map((text: string) => text.trim()));
  return { name, attributes, style: Object.fromEntries(style) };
}

function tags(markup: string, name = "[a-z][a-z0-9]*"): Tag[] {
  return [...markup.matchAll(new RegExp(`<(${name})((?:\\s[^<>]*)?)>`, "g"))].map(toTag);
}

function scoreCells(markup: string): { cell: Tag; link: Tag; text: string }[] {
  return [...markup.matchAll(/(<td[^<>]*>)\s*(<a [^<>]*>)([^<]*)<\/a>\s*<\/td>/g)].map(
    ([, cell = "", link = "", text = ""]) => ({ cell: tags(cell)[0] as Tag, link: tags(link)[0] as Tag, text }),
  );
}

const withoutStyleSheet = (markup: string): string => markup.replace(/<style>.*?<\/style>/s, "");

/** Classic Outlook uses Word's layout: no padding or width on links, no max-width, no width on a div. */
function inWord(markup: string): string {
  return withoutStyleSheet(markup)
    .replace(/<(a|p|div|table)( [^<>]*)>/g, (_, name: string, rest: string) => {
      const kept = rest.replace(/(?:max-width|border-radius|display|position)\s*:[^;"]*;?/g, "");
      return `<${name}${name === "table" ? kept : kept.replace(/(?:padding|width)\s*:[^;"]*;?/g, "")}>`;
    })
    .replace(/<!--\[if mso\]>(.*?)<!\[endif\]-->/gs, "$1");
}

/** Gmail drops the style sheet of mails it dislikes, and always the attributes of html and body. */
function inGmail(markup: string): string {
  return withoutStyleSheet(markup)
    .replace(/<(html|body) [^<>]*>/g, "<$1>")
    .replace(/<!--.*?-->/gs, "");
}

const PROGRAMS: [string, (markup: string) => string][] = [
  ["a program that leaves all as it is", (markup) => markup],
  ["Word", inWord],
  ["Gmail", inGmail],
];

describe.each(PROGRAMS)("in %s", (_, shown) => {
  it.each(LOCALES)("when the mail is in %s, then there are eleven labelled cells from 0 to 10", async (locale) => {
    const cells = scoreCells(shown(await html({ ...WHOLE, properties: { ...WHOLE.properties, locale } })));
    const { scoreOfTen } = surveyTexts(locale);
    expect(
      cells.map(({ cell, link, text }) => ({
        text,
        href: link.attributes["href"],
        names: [link.attributes["title"], link.attributes["aria-label"]],
        cell: [cell.attributes["bgcolor"], cell.attributes["width"], cell.style["padding"]],
      })),
    ).toEqual(
      SCORES.map((score) => ({
        text: String(score),
        href: `${APP_URL}/s/${TOKEN}?score=${score}`,
        names: Array(2).fill(escapeHtml(scoreOfTen.replace("{score}", String(score)))),
        cell: ["#f7f9fb", "26", "2px 0"],
      })),
    );
  });

  it("when the language is Arabic, then text runs from the right and the scale from the left", async () => {
    const markup = shown(await html(inLocale("ar")));
    const [outer, ...others] = tags(markup, "table").filter(({ attributes }) => attributes["width"] === "100%");
    expect(outer?.attributes).toMatchObject({ lang: "ar", dir: "rtl", role: "presentation" });
    expect(others.length).toBeGreaterThan(0);
    const scales = tags(markup, "table").filter(({ attributes }) => attributes["class"] === "scale");
    expect(scales.map(({ attributes }) => attributes["dir"])).toEqual(["ltr", "ltr"]);
    const { notLikely, veryLikely } = surveyTexts("ar");
    const labels = [...markup.matchAll(/<td class="quiet" dir="(\w+)"[^>]* align="(\w+)"[^>]*>([^<]*)</g)];
    expect(labels.map(([, ...label]) => label)).toEqual([
      ["rtl", "left", notLikely],
      ["rtl", "right", veryLikely],
    ]);
  });
});

describe.each(LOCALES)("the mail in %s", async (locale) => {
  const markup = await html({ ...WHOLE, properties: { ...WHOLE.properties, locale } });
  const texts = surveyTexts(locale);

  test("is small, says its language, and has everything as text", () => {
    expect(Buffer.byteLength(markup)).toBeLessThanOrEqual(20_000);
    expect(markup).toContain(`<html lang="${locale}" dir="${textDirection(locale)}">`);
    const shown = [texts.questionAbout.replace("{product}", "Acme"), texts.notLikely, texts.veryLikely];
    const links = [texts.answerOnPage, texts.unsubscribe];
    const why = texts.whyYouGetThis.replace("{sender}", "survey.example.com");
    for (const text of [...shown, ...links, why]) expect(markup).toContain(`>${escapeHtml(text)}<`);
  });

  test("has only what mail programs understand", () => {
    const allowed = new Set("html head meta title style body div table tr td p h1 a br".split(" "));
    expect(tags(markup).filter(({ name }) => !allowed.has(name))).toEqual([]);
    const layout = tags(markup).flatMap(({ style }) => Object.entries(style).map(([key, value]) => `${key}:${value}`));
    expect(layout.filter((rule) => /^(?:position|float|transform|flex)|flex|grid|[ :]-\d|url\(/.test(rule))).toEqual(
      [],
    );
    expect(markup).not.toMatch(/<img|<script|@import|@font-face|url\(| on\w+=/i);
    expect(tags(markup, "table").filter(({ attributes }) => attributes["role"] !== "presentation")).toEqual([]);
    const targets = tags(markup, "a").map(({ attributes }) => attributes["href"] ?? "");
    expect(targets.filter((url) => !url.startsWith("https://survey.example.com/"))).toEqual([]);
  });
});

const px = (text: string | undefined): number => Number.parseInt(text ?? "", 10);

test("when the window is 320 px wide, then the scale fits, and each cell is large enough for a finger", async () => {
  const markup = await html();
  const cells = scoreCells(markup);
  const frame = tags(markup, "td").find(({ attributes }) => attributes["class"] === "card");
  const scale = tags(markup, "table").find(({ attributes }) => attributes["class"] === "scale");
  const across = cells.map(({ cell }) => px(cell.style["width"]) + 1 + px(cell.style["border-left-width"] ?? "1px"));
  const width = across.reduce((sum, one) => sum + one, 0);
  expect(width).toBe(px(scale?.style["width"]));
  expect(width + 2 * px(frame?.style["padding"]?.split(" ")[1]) + 2).toBeLessThanOrEqual(320);
  for (const { cell, link } of cells) {
    expect(px(cell.style["width"])).toBeGreaterThanOrEqual(24);
    expect(px(link.style["line-height"])).toBeGreaterThanOrEqual(24);
    expect(link.style["display"]).toBe("block");
  }
});

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** WCAG 2.2 contrast ratio, 1 to 21. */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

const inverted = (colour: string): string =>
  `#${(0xffffff - Number.parseInt(colour.slice(1), 16)).toString(16).padStart(6, "0")}`;

test("when colours are as they are, inverted or dark, then text can be read", async () => {
  const markup = await html(WHOLE);
  const [cell] = scoreCells(markup);
  const colourOf = (name: string): string => new RegExp(`class="${name}"[^>]*;color:(#\\w{6})`).exec(markup)?.[1] ?? "";
  const behind = (name: string): string =>
    new RegExp(`class="${name}"[^>]*bgcolor="(#\\w{6})"`).exec(markup)?.[1] ?? "";
  const sheet = /<style>(.*?)<\/style>/s.exec(markup)?.[1] ?? "";
  const dark = sheet.slice(sheet.indexOf("prefers-color-scheme"));
  const inDark = (selector: string): string =>
    new RegExp(`${selector.replaceAll(".", "\\.")}\\{(?:background-)?color:(#\\w{6})`).exec(dark)?.[1] ?? "";
  const link = /class="link"[^>]*style="color:(#\w{6})/.exec(markup)?.[1] ?? "";
  const light: [string, string][] = [
    [cell?.link.style["color"] ?? "", behind("score")],
    [colourOf("ink"), behind("card")],
    [colourOf("quiet"), behind("card")],
    [colourOf("quiet"), behind("page")],
    [link, behind("page")],
  ];
  const pairs: [string, string][] = [
    ...light,
    ...light.map(([text, ground]): [string, string] => [inverted(text), inverted(ground)]),
    [inDark(".score a"), inDark(".score")],
    [inDark(".score a"), inDark(".card")],
    [inDark(".quiet"), inDark(".card")],
    [inDark(".quiet"), inDark("body,.page")],
    [inDark(".link"), inDark("body,.page")],
  ];
  expect(pairs.filter(([text, ground]) => !(contrast(text, ground) >= 4.5))).toEqual([]);
  const line = /border:1px solid (#\w{6})/.exec(cell?.cell.attributes["style"] ?? "")?.[1] ?? "";
  expect(contrast(line, behind("card"))).toBeGreaterThanOrEqual(3);
});

const firstLine = (markup: string): string =>
  withoutStyleSheet(markup)
    .replace(/^.*<body[^>]*>/s, "")
    .replace(/<[^>]*>/g, "\n")
    .trim()
    .split("\n")[0] ?? "";

test("when lists of mail show the first line, then it is the question", async () => {
  expect(firstLine(await html())).toBe("How likely are you to recommend us to a friend?");
  expect(firstLine(await html(WHOLE))).toBe("How likely are you to recommend Acme to a friend?");
});

test("when a mail program can be dark, then the mail says that it can too", async () => {
  const metas = tags(await html(), "meta").map(({ attributes }) => [attributes["name"], attributes["content"]]);
  expect(metas).toContainEqual(["color-scheme", "light dark"]);
  expect(metas).toContainEqual(["supported-color-schemes", "light dark"]);
});
