import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser } from "../../helpers/browser.ts";
import { type BrowserFixture, openInBrowser } from "./fixture.ts";

const TARGET_MIN = 44;

const SMALL = `[...document.querySelectorAll("a, button, summary, textarea, label:has(input)")]
  .map((each) => [each, each.getBoundingClientRect()])
  .filter(([, { width, height }]) => height > 0 && Math.min(width, height) < ${TARGET_MIN})
  .map(([each, { width, height }]) => each.tagName + " " + each.textContent.trim() + " " + width + "x" + height)`;
const ROWS = `Object.values(Object.groupBy(document.querySelectorAll(".scale label"), (each) => each.getBoundingClientRect().y))
  .map((row) => row.map((each) => [each.getBoundingClientRect().x, each.textContent.trim()]))
  .map((row) => row.toSorted(([one], [other]) => one - other).map(([, text]) => text).join(" "))`;

describe.skipIf(!hasBrowser)("in Chromium", () => {
  let pages: BrowserFixture;
  beforeAll(async () => {
    pages = await openInBrowser();
    const { admin } = pages.service;
    const scale = { id: "q_scale", type: "scale", text: "How easy was it?", choice: [], to: null } as const;
    await admin({ kind: "question.add", project: "default", ...scale, scale: { from: 1, to: 7 } });
  });
  afterAll(() => pages.close());

  const state = { surveys: 0 };
  const newSurvey = async (locale: string) => {
    state.surveys += 1;
    const due = await pages.send({ locale }, `t${state.surveys}@example.com`);
    return { survey: `${pages.url}/s/${due.token}`, leaving: `${pages.url}/u/${due.unsubscribeToken}` };
  };

  it.each([
    [320, "ar", ["0 1 2 3 4 5", "6 7 8 9 10"], ["1 2 3 4", "5 6 7"]],
    [320, "ja", ["0 1 2 3 4 5", "6 7 8 9 10"], ["1 2 3 4", "5 6 7"]],
    [768, "de", ["0 1 2 3 4 5 6 7 8 9 10"], ["1 2 3 4 5 6 7"]],
    [1280, "en", ["0 1 2 3 4 5 6 7 8 9 10"], ["1 2 3 4 5 6 7"]],
  ])(
    "at %i px, in %s, every target is large enough, and numbers are in reading order",
    async (width, locale, ...rows) => {
      const page: Page = await pages.browser.newPage({ viewport: { width, height: 568 } });
      const { survey, leaving } = await newSurvey(locale);
      const small: Record<string, unknown> = {};
      const numbers: unknown[] = [];
      const look = async (name: string, act: () => Promise<unknown>): Promise<void> => {
        await act();
        await page.waitForLoadState();
        small[name] = await page.evaluate(SMALL);
      };
      await look("question", () => page.goto(survey));
      numbers.push(await page.evaluate(ROWS));
      await look("mistake", () => page.click("button"));
      await page.check("#score-9");
      await look("questions", () => page.click("button"));
      numbers.push(await page.evaluate(ROWS));
      await look("thanks", () => page.goto(survey));
      await look("change", () => page.click("summary"));
      await look("leaving", () => page.goto(leaving));
      await look("left", () => page.click("button"));
      await page.close();
      const none = ["question", "mistake", "questions", "thanks", "change", "leaving", "left"].map((name) => [
        name,
        [],
      ]);
      expect([small, numbers]).toEqual([Object.fromEntries(none), rows]);
    },
  );

  it("the page says that the score of the link is saved, and that a later change couldn't be", async () => {
    const page = await pages.browser.newPage({ hasTouch: true });
    const { survey } = await newSurvey("en");
    await page.goto(`${survey}?score=9`);
    const output = page.locator("output");
    expect(await output.textContent()).toBe("You chose 9. Press Send to submit.");
    await page.waitForTimeout(1100);
    await page.tap("h1");
    await expect.poll(() => output.textContent()).toBe("Saved: 9. Add a comment?");
    await page.context().setOffline(true);
    await page.tap("label:has(#score-3)");
    await expect.poll(() => output.textContent()).toBe("You chose 3. Press Send to submit.");
    expect(await output.getAttribute("class")).toBe("");
    await page.close();
  });
});
