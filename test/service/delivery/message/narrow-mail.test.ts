import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DigestFacts } from "../../../../src/insight/report/facts.ts";
import { digestHtml } from "../../../../src/insight/report/digest.ts";
import { NO_BRAND } from "../../../../src/service/domain/projects/brand.ts";
import { NO_PRESENTATION } from "../../../../src/service/domain/projects/presentation.ts";
import { hasBrowser, launchBrowser } from "../../../helpers/browser.ts";
import { html } from "./mailing.ts";

const LONG_URL = `https://www.example.com/${"orders-and-returns/".repeat(8)}?id=${"0123456789abcdef".repeat(4)}`;
const LONG_WORD = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";

describe.skipIf(!hasBrowser)("in a window of 320 px", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());
  const widthOf = async (markup: string): Promise<number> => {
    const page = await browser.newPage({ viewport: { width: 320, height: 568 } });
    await page.setContent(markup);
    const width: number = await page.evaluate("document.documentElement.scrollWidth");
    await page.close();
    return width;
  };

  it.each(["en", "de", "ar"])("long words and addresses don't widen a survey in %s", async (locale) => {
    const properties = { locale, question_product_name: LONG_WORD, service_intro_message: `See ${LONG_URL}` };
    const sender = { senderName: LONG_WORD, footer: `Acme\n${LONG_URL}` };
    const presentation = { ...NO_PRESENTATION, brand: { ...NO_BRAND, name: LONG_URL } };
    expect(await widthOf(await html({ properties, sender, presentation }))).toBe(320);
  });

  it("long words and addresses don't widen a digest", async () => {
    const counts = { detractors: 1, passives: 0, promoters: 2 };
    const question = { question: "q1", text: LONG_URL, answered: 1, mean: null, words: null };
    const value = { value: LONG_WORD, n: 1, share: 1, share_low: 0, share_high: 1, nps: 0, nps_low: 0, nps_high: 0 };
    const facts: DigestFacts = {
      title: LONG_WORD,
      range: "2026-05-04 – 2026-05-10",
      counts,
      commented: 1,
      rates: null,
      change: null,
      questions: [
        { ...question, type: "select_one", values: [value] },
        { ...question, type: "free_response", values: [] },
      ],
      comments: [{ id: "1", score: 0, text: LONG_URL, at: "2026-05-05", person: null, url: null }],
    };
    expect(await widthOf(digestHtml(facts))).toBe(320);
  });
});
