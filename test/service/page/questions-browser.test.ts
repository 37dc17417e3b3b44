import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findViolations, hasBrowser } from "../../helpers/browser.ts";
import { isLong } from "../../helpers/long.ts";
import { type BrowserFixture, openInBrowser } from "./fixture.ts";

const LONG = "An answer so long that it needs more than one line on any telephone, and then some more";
const TRANSLATED = {
  de: { text: "Was ist Ihnen am wichtigsten?", choice: ["Preis", "Hilfe", LONG] },
  ar: { text: "ما الأهم بالنسبة لك؟", choice: ["السعر", "الدعم", LONG] },
  ja: { text: "一番大切なことは何ですか？", choice: ["価格", "サポート", LONG] },
};
const CHOICES = { text: "What matters most?", choice: ["Price", "Support", LONG], scale: null, to: null };
const QUESTIONS = [
  { id: "q_text", type: "free_response", text: "What should we improve?", choice: [], scale: null, to: null },
  { id: "q_scale", type: "scale", text: "How easy was it?", choice: [], scale: { from: 0, to: 10 }, to: null },
  { ...CHOICES, id: "q_one", type: "select_one" },
  { ...CHOICES, id: "q_many", type: "select_many" },
] as const;

const LOOKS = ["de", "ar", "ja"].flatMap((locale) =>
  (["light", "dark"] as const).flatMap((scheme) => [320, 1280].map((width) => ({ locale, scheme, width }))),
);
/** One per language, covering both schemes and widths. */
const IN_SHORT = LOOKS.filter((_, at) => [0, 7, 10].includes(at));

describe.skipIf(!hasBrowser)("in Chromium", () => {
  let pages: BrowserFixture;
  beforeAll(async () => {
    pages = await openInBrowser();
    const { admin } = pages.service;
    for (const question of QUESTIONS) await admin({ kind: "question.add", project: "default", ...question });
    for (const id of ["q_one", "q_many"])
      for (const [locale, texts] of Object.entries(TRANSLATED))
        await admin({ kind: "question.text", project: "default", id, locale: locale as "de", ...texts });
  });
  afterAll(() => pages.close());

  const state = { surveys: 0 };
  const openScored = async (page: Page, locale: string): Promise<void> => {
    state.surveys += 1;
    const { token } = await pages.send({ locale }, `q${state.surveys}@example.com`);
    await page.goto(`${pages.url}/s/${token}?score=3`);
    await page.click("button");
    await page.waitForURL(/\/questions$/);
  };
  const answersOfLast = async () =>
    (await pages.responses())
      .at(-1)
      ?.additional_answers.map(({ question, value }) => [
        question.id,
        value.free_response ?? value.scale ?? value.select_one?.id ?? value.select_many?.map(({ id }) => id),
      ]);

  test.each(isLong ? LOOKS : IN_SHORT)(
    "when they are asked in $locale, $scheme, $width wide, then axe has nothing to say, and all fits",
    { timeout: 60_000 },
    async ({ locale, scheme, width }) => {
      const page = await pages.browser.newPage({
        viewport: { width, height: 568 },
        colorScheme: scheme,
        bypassCSP: true,
      });
      await openScored(page, locale);
      const wide = (): Promise<boolean> =>
        page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
      const found = [await findViolations(page), await wide()];
      await page.check("input[name='answers[q_one]'][value=c2]");
      await page.click("button");
      await page.waitForLoadState();
      found.push(await findViolations(page), await wide());
      await page.close();
      expect(found).toEqual([[], false, [], false]);
    },
  );

  test(
    "when there is a keyboard alone, then all is answered, changed and taken back",
    { timeout: 60_000 },
    async () => {
      const page = await pages.browser.newPage({ viewport: { width: 320, height: 568 } });
      await openScored(page, "de");
      const press = async (...keys: readonly string[]): Promise<void> => {
        for (const key of keys) await page.keyboard.press(key);
      };
      await press("Tab");
      await page.keyboard.type("Mehr Farben");
      // The radio group starts at its last option, "no answer".
      await press("Tab", "ArrowUp", "Tab", "ArrowUp", "ArrowUp", "Tab", "Space", "Tab", "Tab", "Space", "Tab", "Enter");
      await page.waitForURL(/\/s\/[^/]+$/);
      expect(await answersOfLast()).toEqual([
        ["q_text", "Mehr Farben"],
        ["q_scale", 10],
        ["q_one", "c2"],
        ["q_many", ["c1", "c3"]],
      ]);
      await page.goto(`${page.url()}/questions`);
      await press(
        "Tab",
        "Control+A",
        "Delete",
        "Tab",
        "ArrowDown",
        "Tab",
        "Tab",
        "Space",
        "Tab",
        "Tab",
        "Tab",
        "Enter",
      );
      await page.waitForURL(/\/s\/[^/]+$/);
      expect(await answersOfLast()).toEqual([
        ["q_one", "c2"],
        ["q_many", ["c3"]],
      ]);
      await page.close();
    },
  );

  test(
    "when scripts are off, then each is answered all the same, and the page is small",
    { timeout: 60_000 },
    async () => {
      const context = await pages.browser.newContext({ javaScriptEnabled: false });
      const page = await context.newPage();
      await openScored(page, "ja");
      expect(Buffer.byteLength(await page.content())).toBeLessThan(40_000);
      await page.fill("textarea", "色を増やす");
      for (const field of ["answers[q_one]'][value='c3", "answers[q_many]'][value='c2"])
        await page.check(`input[name='${field}']`);
      await page.click("button");
      expect(await answersOfLast()).toEqual([
        ["q_text", "色を増やす"],
        ["q_one", "c3"],
        ["q_many", ["c2"]],
      ]);
      await context.close();
    },
  );
});
