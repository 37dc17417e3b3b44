/** Every page in four languages. Add `-u` to update the files. */
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPages, type PageFixture } from "./fixture.ts";
import { DAY } from "../domain/fixture.ts";

let pages: PageFixture;
beforeAll(async () => {
  pages = await openPages();
});
afterAll(() => pages.close());

const GOLDEN = path.join(import.meta.dirname, "../../golden/pages");

/** The style sheet and script are the same on every page and have their own tests. */
function withoutSecrets(page: string, tokens: readonly string[]): string {
  const plain = page.replace(/<(style|script)>[^]*?<\/\1>/g, "<$1>…</$1>").replaceAll(/^\s+\n/gm, "");
  return tokens.reduce((text, token) => text.replaceAll(token, "TOKEN"), plain);
}

test.each(["en", "de", "ar", "ja"])("when pages speak %s, then each is as it was approved", async (locale) => {
  const properties = {
    locale,
    question_product_name: "Acme & Söhne",
    thank_you_message: "We read every answer.",
    thank_you_link_text: "Review us",
    thank_you_link_url: "https://example.com/review?a=1&b=2",
  };
  const due = await pages.send(properties, `${locale}@example.com`);
  const [survey, leaving] = [`/s/${due.token}`, `/u/${due.unsubscribeToken}`];
  const shown: [string, { readonly status: number; readonly text: string }][] = [
    ["question", await pages.get(survey)],
    ["chosen by the link", await pages.get(`${survey}?score=9`)],
    ["no score", await pages.post(survey, { comment: "I like <b>it</b>" })],
    ["comment too long", await pages.post(survey, { score: "9", comment: "x".repeat(5001) })],
  ];
  await pages.post(survey, { score: "9", comment: "I like <b>it</b>" });
  shown.push(
    ["thanks", await pages.get(survey)],
    ["another score", await pages.get(`${survey}?score=3`)],
    ["leaving", await pages.get(leaving)],
    ["left", await pages.post(leaving, {})],
    ["back", await pages.post(`${leaving}/undo`, {})],
  );
  pages.time.now += 31 * DAY;
  shown.push(
    ["thanks, closed", await pages.get(survey)],
    ["unknown", await pages.get("/s/none", { headers: { "accept-language": locale } })],
  );
  const late = await pages.send({ locale }, `late-${locale}@example.com`);
  pages.time.now += 366 * DAY;
  shown.push(["ended", await pages.get(`/s/${late.token}`)]);
  const text = shown.map(([name, page]) => `<!-- ${name}: ${page.status} -->\n${page.text}\n`).join("\n");
  const secrets = [due.token, due.unsubscribeToken, late.token];
  await expect(withoutSecrets(text.replaceAll(/x{5001}/g, "x…"), secrets)).toMatchFileSnapshot(
    path.join(GOLDEN, `${locale}.txt`),
  );
});
