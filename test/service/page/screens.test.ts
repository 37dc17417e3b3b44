/**
 * Compares eight screens with test/golden/screens. `DRAW_SCREENS=1 npx vitest run test/service/page/screens.test.ts`
 * redraws them; look at each one before you commit.
 */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listen, type Listening } from "../../../src/service/http/server.ts";
import { hasBrowser, launchBrowser } from "../../helpers/browser.ts";
import { isLong } from "../../helpers/long.ts";
import { openPages, type PageFixture } from "./fixture.ts";

const GOLDEN = path.join(import.meta.dirname, "../../golden/screens");
const isDrawing = process.env.DRAW_SCREENS === "1";

const hasFonts = existsSync("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf");
if (hasBrowser && !hasFonts)
  process.stderr.write("fonts-dejavu-core is not installed: screens are not compared here\n");

interface Screen {
  readonly locale: string;
  readonly width: number;
  readonly scheme: "light" | "dark";
  readonly show: (page: Page, at: { survey: string; leaving: string; base: string }) => Promise<unknown>;
}

const answer = async (page: Page, survey: string): Promise<void> => {
  await page.goto(`${survey}?score=9`);
  await page.fill("textarea", "Kind people, and they shipped the same day.");
  await page.click("button");
};

const SCREENS: Readonly<Record<string, Screen>> = {
  question: { locale: "en", width: 320, scheme: "light", show: (page, { survey }) => page.goto(survey) },
  mistake: {
    locale: "de",
    width: 320,
    scheme: "light",
    show: async (page, { survey }) => [await page.goto(survey), await page.click("button")],
  },
  change: {
    locale: "ar",
    width: 320,
    scheme: "dark",
    show: async (page, { survey }) => [await answer(page, survey), await page.click("summary")],
  },
  thanks: { locale: "en", width: 800, scheme: "light", show: (page, { survey }) => answer(page, survey) },
  chosen: { locale: "de", width: 800, scheme: "dark", show: (page, { survey }) => page.goto(`${survey}?score=3`) },
  leaving: { locale: "ar", width: 800, scheme: "light", show: (page, { leaving }) => page.goto(leaving) },
  left: {
    locale: "en",
    width: 320,
    scheme: "dark",
    show: async (page, { leaving }) => [await page.goto(leaving), await page.click("button")],
  },
  unknown: { locale: "en", width: 800, scheme: "dark", show: (page, { base }) => page.goto(`${base}/s/none`) },
};
const IN_SHORT = ["mistake", "change", "thanks"];

/** Compares averages of 4 × 4 pixels, because library versions draw glyphs slightly differently. */
const SIDE = 4;
const NEAR = 24;

/**
 * Runs in the browser. Returns the share of squares that differ and their bounding box, or null if the sizes differ.
 */
const COMPARE = `async ([one, other]) => {
  const draw = async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const { width, height } = image;
    const context = new OffscreenCanvas(width, height).getContext("2d");
    context.drawImage(image, 0, 0);
    return { width, height, data: context.getImageData(0, 0, width, height).data };
  };
  const [a, b] = [await draw(one), await draw(other)];
  if (a.width !== b.width || a.height !== b.height) return null;
  let [count, left, top, right, bottom] = [0, a.width, a.height, 0, 0];
  for (let y = 0; y < a.height; y += ${SIDE})
    for (let x = 0; x < a.width; x += ${SIDE}) {
      const sums = [0, 0, 0];
      for (let dy = 0; dy < ${SIDE} && y + dy < a.height; dy += 1)
        for (let dx = 0; dx < ${SIDE} && x + dx < a.width; dx += 1)
          for (let part = 0; part < 3; part += 1) {
            const at = ((y + dy) * a.width + x + dx) * 4 + part;
            sums[part] += a.data[at] - b.data[at];
          }
      if (Math.max(...sums.map(Math.abs)) / ${SIDE * SIDE} <= ${NEAR}) continue;
      count += 1;
      [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
    }
  return { share: count / ((a.width * a.height) / ${SIDE * SIDE}), box: count === 0 ? null : [left, top, right, bottom] };
}`;
const SHARE_MAX = 0.001;

const restyle = (name: string, selector: string, style: string, value: string): [string, string, string] => {
  const set = (text: string): string => `document.querySelector("${selector}").style.${style} = "${text}"`;
  return [name, set(value), set("")];
};
const FAULTS: readonly [string, string, string][] = [
  restyle("a button in another colour", "button", "background", "#6fa4f0"),
  restyle("a line that is gone", ".ends", "visibility", "hidden"),
  restyle("letters of another size", "h1", "fontSize", "1.38rem"),
  restyle("a scale that moved by two points", ".scale", "translate", "0 2px"),
  [
    "a score that is not marked",
    "chosen = document.querySelector('#score-9'); chosen.checked = false",
    "chosen.checked = true",
  ],
];

const asUrl = (png: Buffer): string => `data:image/png;base64,${png.toString("base64")}`;

interface Difference {
  readonly share: number;
  readonly box: readonly number[] | null;
}

describe.skipIf(!hasBrowser || !hasFonts)("a screen", () => {
  let pages: PageFixture;
  let listening: Listening;
  let browser: Browser;
  let page: Page;
  /** Compares the images in a browser, which can decode them. */
  let judge: Page;
  beforeAll(async () => {
    pages = await openPages();
    await pages.service.admin({ kind: "brand.set", project: "default", name: "Acme" });
    listening = await listen(pages.service, { host: "127.0.0.1", port: 0, tls: null });
    browser = await launchBrowser({ FONTCONFIG_FILE: path.join(GOLDEN, "fonts.conf") });
    [page, judge] = [await browser.newPage(), await browser.newPage()];
  });
  afterAll(async () => {
    await browser.close();
    listening.cut();
    await listening.close();
    await pages.close();
  });

  const state = { people: 0 };
  const open = async (name: string): Promise<void> => {
    const { locale, width, scheme, show } = SCREENS[name] as Screen;
    await page.setViewportSize({ width, height: 560 });
    await page.emulateMedia({ colorScheme: scheme });
    const link = { thank_you_link_url: "https://example.com/", thank_you_link_text: "Review us" };
    state.people += 1;
    const properties = { locale, question_product_name: "Runner 3", ...link };
    const due = await pages.send(properties, `p${state.people}@example.com`);
    const base = listening.url;
    await show(page, { survey: `${base}/s/${due.token}`, leaving: `${base}/u/${due.unsubscribeToken}`, base });
    await page.waitForLoadState();
  };
  const compare = async (name: string): Promise<Difference | null> => {
    const shown = await page.screenshot({ fullPage: true });
    const approved = await readFile(path.join(GOLDEN, `${name}.png`));
    return judge.evaluate(`(${COMPARE})(${JSON.stringify([asUrl(shown), asUrl(approved)])})`);
  };

  it.each(isLong || isDrawing ? Object.keys(SCREENS) : IN_SHORT)("looks as approved: %s", async (name) => {
    await open(name);
    if (isDrawing) await writeFile(path.join(GOLDEN, `${name}.png`), await page.screenshot({ fullPage: true }));
    const found = await compare(name);
    expect(found, "another size").not.toBeNull();
    expect(found?.share, `at ${JSON.stringify(found?.box)}`).toBeLessThanOrEqual(SHARE_MAX);
  });

  it.runIf(isLong || isDrawing)("that differs a little is not taken for the same", async () => {
    await open("change");
    const seen: Record<string, unknown> = {};
    for (const [name, fault, mended] of FAULTS) {
      await page.evaluate(fault);
      const found = await compare("change");
      seen[name] = found === null || found.share > SHARE_MAX || found;
      await page.evaluate(mended);
    }
    expect(seen).toEqual(Object.fromEntries(FAULTS.map(([name]) => [name, true])));
    expect(await compare("change")).toEqual({ share: 0, box: null });
  });
});
