import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from "vitest";
import { LOCALES } from "../../../src/contract/locales.ts";
import { findViolations, hasBrowser } from "../../helpers/browser.ts";
import { isLong } from "../../helpers/long.ts";
import { describeReport } from "../../cli/commands/report/in-browser.ts";
import { describeShare } from "../share/in-browser.ts";
import { type BrowserFixture, openInBrowser, signedPath } from "./fixture.ts";

/** A visit this long counts as human. */
const SEEN_MS = 1100;
const SENT_MS = 600;

/** What a script can fake, except for the browser's `isTrusted` flag. */
const FAKE_GESTURES = `{
  const target = document.querySelector("#score-9");
  for (const kind of ["pointerdown", "pointerup", "touchend", "keydown", "mousedown"])
    target.dispatchEvent(new Event(kind, { bubbles: true }));
  target.dispatchEvent(new PointerEvent("pointerup", { bubbles: true }));
  target.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, key: "Enter" }));
}`;

const LINE = 20;

interface Box {
  readonly x: number;
  readonly width: number;
  readonly height: number;
}

describe.skipIf(!hasBrowser)("in Chromium", () => {
  let pages: BrowserFixture;
  let context: BrowserContext;
  let page: Page;
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    pages = await openInBrowser();
    await pages.service.admin({ kind: "brand.set", project: "default", name: "Acme", color: "#0a7" });
  });
  afterAll(() => pages.close());
  const openContext = async (options: BrowserContextOptions = {}): Promise<Page> => {
    context = await pages.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    contexts.push(context);
    page = await context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().includes("status of 4")) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    return page;
  };
  beforeEach(() => {
    complaints.length = 0;
  });
  afterEach(async () => {
    for (const one of contexts.splice(0)) await one.close();
    if (complaints.length > 0) throw new Error(complaints.join("\n"));
  });

  const state = { surveys: 0 };
  const newSurvey = async (properties: Record<string, string> = {}): Promise<string> => {
    state.surveys += 1;
    return `/s/${(await pages.send(properties, `p${state.surveys}@example.com`)).token}`;
  };
  const open = async (path: string): Promise<void> => {
    await page.goto(pages.url + path);
  };
  const stored = async (path: string) => {
    const survey = await pages.service.store.read((tx) => tx.requests.byToken(path.slice(3)));
    const id = survey?.responseId ?? null;
    if (id === null) return null;
    const response = await pages.service.store.read((tx) => tx.responses.byId(pages.project.id, id));
    return [response?.score, response?.comment, survey?.pageFacts.answeredBy];
  };

  describe("when scripts are off", () => {
    it("then a link and a button are an answer, and a mistake keeps what was written", async () => {
      await openContext({ javaScriptEnabled: false });
      const path = await newSurvey();
      await open(path);
      await page.fill("textarea", "Kind people");
      await page.click("button");
      expect(await page.title()).toMatch(/^Error: /);
      expect(await page.inputValue("textarea")).toBe("Kind people");
      await page.check("#score-9");
      await page.click("button");
      expect(page.url()).toBe(pages.url + path);
      expect(await page.textContent("h1")).toBe("Thank you!");
      expect(await stored(path)).toEqual([9, "Kind people", "button"]);
    });
  });

  describe("when only a keyboard is there", () => {
    it("then the scale, the comment and the button are reached and seen, in this order", async () => {
      await openContext();
      const path = await newSurvey();
      await open(path);
      const focused = (): Promise<string> =>
        page.evaluate("`${document.activeElement.tagName} ${document.activeElement.id}`");
      await page.keyboard.press("Tab");
      expect(await focused()).toBe("INPUT score-0");
      await page.keyboard.press("Space");
      for (let steps = 0; steps < 8; steps += 1) await page.keyboard.press("ArrowRight");
      expect(await focused()).toBe("INPUT score-8");
      const outline = await page.evaluate("getComputedStyle(document.activeElement.nextElementSibling).outlineStyle");
      expect(outline).toBe("solid");
      await page.keyboard.press("Tab");
      await page.keyboard.type("By keyboard");
      await page.keyboard.press("Tab");
      expect(await focused()).toBe("BUTTON ");
      await page.keyboard.press("Enter");
      await page.waitForSelector("text=Your answer: 8");
      expect((await stored(path))?.slice(0, 2)).toEqual([8, "By keyboard"]);
    });

    it("then a mistake is told where the focus is", async () => {
      await openContext();
      await open(await newSurvey());
      await page.click("button");
      // The browser sets the focus shortly after the page has loaded.
      await expect
        .poll(() => page.evaluate("document.activeElement.textContent.trim()"), { timeout: 30_000 })
        .toBe("Choose a number from 0 to 10.");
      await page.click(".problem a");
      expect(await page.evaluate("document.activeElement.id")).toBe("score-0");
    });
  });

  const swipe = async (from: number, to: number): Promise<void> => {
    const session = await context.newCDPSession(page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", y: number): Promise<unknown> =>
      session.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x: 160, y }] });
    await touch("touchStart", from);
    for (let step = 1; step <= 10; step += 1) await touch("touchMove", from + ((to - from) * step) / 10);
    await touch("touchEnd", to);
  };

  describe("when the link names a score", () => {
    it("then one tap anywhere is an answer, a tap on another score is that one, and the comment follows", async () => {
      await openContext({ hasTouch: true });
      const path = await newSurvey();
      await open(`${path}?score=9`);
      await page.waitForTimeout(SEEN_MS);
      expect(await stored(path)).toBeNull();
      await page.touchscreen.tap(640, 780);
      await page.waitForTimeout(SENT_MS);
      expect(await stored(path)).toEqual([9, null, "script"]);
      expect(await page.textContent("output")).toBe("Saved: 9. Add a comment?");
      await page.fill("textarea", "One tap");
      await page.tap("label:has(#score-3)");
      await page.waitForTimeout(SENT_MS);
      expect(await stored(path)).toEqual([3, "One tap", "script"]);
    });

    it.runIf(isLong)("then a tap that moves it to another score sends that one alone", async () => {
      await openContext({ hasTouch: true });
      const path = await newSurvey();
      const sent: string[] = [];
      page.on("request", (request) => {
        if (request.method() === "POST") sent.push(request.postData() ?? "");
      });
      await open(`${path}?score=9`);
      await page.waitForTimeout(SEEN_MS);
      await page.tap("label:has(#score-3)");
      await page.waitForTimeout(SENT_MS);
      expect(sent).toEqual(["score=3&comment=&by=script"]);
    });

    it.each([
      ["a narrow phone, where it scrolls", { width: 320, height: 400 }],
      ["a screen that it fits on", { width: 1280, height: 1000 }],
    ])("a swipe, Tab, the arrow keys and a right click on %s store nothing; Enter does", async (_, viewport) => {
      await openContext({ hasTouch: true, viewport });
      const path = await newSurvey();
      await open(`${path}?score=9`);
      await page.waitForTimeout(SEEN_MS);
      await swipe(350, 50);
      await swipe(50, 350);
      await page.keyboard.press("Tab");
      await page.keyboard.press("Shift");
      await page.keyboard.press("ArrowLeft");
      await page.mouse.click(160, 20, { button: "right" });
      await page.waitForTimeout(SENT_MS);
      expect(await stored(path)).toBeNull();
      await page.evaluate("document.activeElement.blur()");
      await page.keyboard.press("Enter");
      await page.waitForTimeout(SENT_MS);
      expect(await stored(path)).toEqual([8, null, "script"]);
    });

    it("a comment that is typed after a score is stored is stored too", async () => {
      await openContext({ hasTouch: true });
      const path = await newSurvey();
      await open(`${path}?score=9`);
      await page.waitForTimeout(SEEN_MS);
      await page.tap("textarea");
      await page.waitForTimeout(SENT_MS);
      await page.keyboard.type("Kind people");
      await page.waitForTimeout(SENT_MS);
      expect(await stored(path)).toEqual([9, "Kind people", "script"]);
    });

    it("then a touch before the page could be read is none", async () => {
      await openContext({ hasTouch: true });
      const path = await newSurvey();
      await open(`${path}?score=9`);
      await page.touchscreen.tap(640, 780);
      await page.waitForTimeout(SENT_MS);
      expect(await stored(path)).toBeNull();
    });
  });

  /** A click sent through the DevTools protocol, which the browser marks as trusted. */
  const pressByProtocol = async (selector: string): Promise<void> => {
    const { x = 0, y = 0 } = (await page.locator(selector).boundingBox()) ?? {};
    const session = await context.newCDPSession(page);
    for (const type of ["mousePressed", "mouseReleased"] as const)
      await session.send("Input.dispatchMouseEvent", { type, x: x + 9, y: y + 9, button: "left", clickCount: 1 });
  };

  describe("when programs open the links of a message", () => {
    it("then no score is recorded, whatever they fetch, render, scroll or fake", async () => {
      await openContext();
      const path = await newSurvey();
      await open(`${path}?score=9`);
      expect(await page.locator("script").count()).toBe(1);
      await page.waitForTimeout(SEEN_MS);
      await page.mouse.wheel(0, 400);
      await page.mouse.move(600, 400);
      await page.evaluate(FAKE_GESTURES);
      await page.waitForTimeout(SENT_MS);
      for (let score = 0; score <= 10; score += 1)
        for (const method of ["GET", "HEAD"])
          await context.request.fetch(`${pages.url}${path}?score=${score}`, { method });
      expect(await stored(path)).toBeNull();
      // From here on only the button answers.
      await open(`${path}?score=9`);
      expect(await page.locator("script").count()).toBe(0);
    });

    const PRESSES: [string, () => Promise<unknown>][] = [
      ["moves a real mouse", () => pressByProtocol("button")],
      ["clicks by script", () => page.evaluate("document.querySelector('button').click()")],
    ];
    it.each(isLong ? PRESSES : PRESSES.slice(0, 1))(
      "then one that %s answers: no page can tell it from a person, and the operator sees how",
      async (_, press) => {
        await openContext();
        const path = await newSurvey();
        await open(`${path}?score=7`);
        await press();
        await page.waitForSelector("h1:text('Thank you!')");
        expect(await stored(path)).toEqual([7, null, "button"]);
        const survey = await pages.service.store.read((tx) => tx.requests.byToken(path.slice(3)));
        expect(survey?.pageFacts).toMatchObject({ gets: 2, scores: [7], answeredAfter: 3600 });
      },
    );
  });

  const isTooWide = (): Promise<boolean> =>
    page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");

  const IN_SHORT: ReadonlySet<string> = new Set(["mistake", "thanks", "leaving", "response"]);
  const LOOKS = ["en", "de", "ar", "ja"].flatMap((locale) =>
    (["light", "dark"] as const).flatMap((scheme) =>
      [320, 1280].flatMap((width) => [true, false].map((hasScripts) => ({ locale, scheme, width, hasScripts }))),
    ),
  );
  /** axe needs scripts, so it gets a copy of the page as rendered without them. */
  const findShown = async (hasScripts: boolean): Promise<string[]> => {
    if (hasScripts) return findViolations(page);
    const { width = 0, height = 0 } = page.viewportSize() ?? {};
    const scheme: boolean = await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches");
    const copy = await pages.browser.newPage({ viewport: { width, height }, colorScheme: scheme ? "dark" : "light" });
    await copy.setContent(await page.content());
    const found = await findViolations(copy);
    await copy.close();
    return found;
  };
  test.each(isLong ? LOOKS : LOOKS.slice(0, 1))(
    "when every page is checked in $locale, $scheme, $width wide, scripts $hasScripts, then WCAG 2.2 AA has nothing to say",
    async ({ locale, scheme, width, hasScripts }) => {
      const viewport = { width, height: 568 };
      await openContext({ viewport, colorScheme: scheme, locale, javaScriptEnabled: hasScripts });
      const properties = {
        locale,
        question_product_name: "Runner 3",
        thank_you_link_url: "https://example.com/",
        thank_you_link_text: "Review us",
      };
      state.surveys += 1;
      const due = await pages.send(properties, `axe${state.surveys}@example.com`);
      const [survey, leaving] = [`/s/${due.token}`, `/u/${due.unsubscribeToken}`];
      const checks: [string, () => Promise<unknown>][] = [
        ["chosen", () => open(`${survey}?score=9`)],
        ["recorded", () => page.evaluate("document.querySelector('output').className = 'done'")],
        ["question", () => open(survey)],
        ["mistake", () => page.click("button")],
        ["thanks", async () => [await page.check("#score-9"), await page.click("button"), await page.click("summary")]],
        ["leaving", () => open(leaving)],
        ["left", () => page.click("button")],
        ["unknown", () => open("/s/none")],
        ["response", async () => open(await signedLink())],
      ];
      const found: Record<string, unknown> = {};
      for (const [name, act] of checks) {
        await act();
        await page.waitForLoadState();
        found[name] = [isLong || IN_SHORT.has(name) ? await findShown(hasScripts) : [], await isTooWide()];
      }
      expect(found).toEqual(Object.fromEntries(checks.map(([name]) => [name, [[], false]])));
    },
  );
  const signedLink = async (): Promise<string> => {
    const [response] = await pages.responses();
    return signedPath(pages, response?.id);
  };

  test.each(isLong ? LOCALES : (["ar"] as const))(
    "when the question is asked in %s on a narrow screen, then it fits",
    async (locale) => {
      await openContext({ viewport: { width: 320, height: 568 } });
      await open(await newSurvey({ locale }));
      const boxes: Box[] = await page.evaluate(
        "[...document.querySelectorAll('.scale label')].map((label) => label.getBoundingClientRect().toJSON())",
      );
      expect(Math.min(...boxes.flatMap(({ width, height }) => [width, height]))).toBeGreaterThanOrEqual(44);
      // On narrow screens each label includes its number, and takes up to three lines.
      const ends: Box[] = await page.evaluate(
        "[...document.querySelectorAll('.ends > span, .heard')].map((each) => each.getBoundingClientRect().toJSON())",
      );
      expect(ends.map(({ width }) => width === 1)).toEqual([false, false, false, false]);
      expect(Math.max(...ends.map(({ height }) => height))).toBeLessThan(3.5 * LINE);
      expect(await isTooWide()).toBe(false);
      expect(isLong ? await findViolations(page) : []).toEqual([]);
    },
  );

  test("long words and addresses don't widen a page of 320 px", async () => {
    await openContext({ viewport: { width: 320, height: 568 }, javaScriptEnabled: false });
    const long = `https://www.example.com/${"orders-and-returns/".repeat(8)}`;
    const properties = { question_product_name: long, thank_you_message: long, thank_you_link_url: long };
    state.surveys += 1;
    const due = await pages.send(properties, `${"a".repeat(60)}${state.surveys}@${"b".repeat(60)}.example.com`);
    await pages.service.admin({ kind: "brand.set", project: "default", name: long.slice(0, 100) });
    const widths: Record<string, boolean> = {};
    const look = async (name: string, act: () => Promise<unknown>): Promise<void> => {
      await act();
      widths[name] = await isTooWide();
    };
    await look("question", () => open(`/s/${due.token}`));
    await look("mistake", () => page.click("button"));
    await page.check("#score-9");
    await page.fill("textarea", long);
    await look("thanks", () => page.click("button"));
    await look("leaving", () => open(`/u/${due.unsubscribeToken}`));
    await look("left", () => page.click("button"));
    await look("response", async () => open(await signedLink()));
    await pages.service.admin({ kind: "brand.set", project: "default", name: "Acme", color: "#0a7" });
    expect(widths).toEqual({
      question: false,
      mistake: false,
      thanks: false,
      leaving: false,
      left: false,
      response: false,
    });
  });

  test.each([
    ["ar", "ممتاز", "0px", "16px"],
    ["en", "Kind people", "16px", "0px"],
  ])("when a comment is shown in %s, then its room is beside its line", async (locale, comment, left, right) => {
    await openContext();
    await open(await newSurvey({ locale }));
    await page.check("#score-9");
    await page.fill("textarea", comment);
    await page.click("button");
    const style = "getComputedStyle(document.querySelector('blockquote'))";
    expect(await page.evaluate(`[${style}.paddingLeft, ${style}.paddingRight]`)).toEqual([left, right]);
  });

  test("when a public link was answered, then the address bar has the link alone, and the answer can be changed", async () => {
    await openContext({ javaScriptEnabled: false });
    const { url } = await pages.service.admin({ kind: "link.add", project: "default", name: "Shop", property: {} });
    const path = url.replace(/^https?:\/\/[^/]+/, "");
    const before = (await pages.responses()).length;
    await open(`${path}?score=9`);
    await page.fill("textarea", "My name is Ada");
    await page.click("button");
    expect([page.url(), await page.textContent("h1")]).toEqual([pages.url + path, "Thank you!"]);
    expect(await page.content()).not.toContain("Ada");
    await page.click("summary");
    await page.check("#score-2");
    await page.click("button");
    expect(await page.textContent(".given")).toBe("2");
    const responses = await pages.responses();
    expect(responses.filter(({ comment }) => comment === "My name is Ada").map(({ score }) => score)).toEqual([2]);
    expect(responses.length).toBe(before + 1);
  });

  describe("a report", () => {
    describeReport(() => pages.browser);
  });

  describe("a page for colleagues", () => {
    describeShare(() => pages.browser);
  });

  const color = (score: number): Promise<string> =>
    page.evaluate(`getComputedStyle(document.querySelector("#score-${score} + span")).backgroundColor`);

  test("when colours are forced, then the chosen score still looks chosen", async () => {
    await openContext({ forcedColors: "active" });
    await open(`${await newSurvey()}?score=9`);
    expect(await color(9)).not.toBe(await color(8));
  });
});
