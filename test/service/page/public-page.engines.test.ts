import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { DomainError } from "../../../src/service/domain/errors.ts";
import { DAY } from "../domain/fixture.ts";
import { checkedScores, KEY, openPages, ORIGIN, type PageFixture, signedPath, visibleText } from "./fixture.ts";

let pages: PageFixture;
beforeEach(async () => {
  pages = await openPages({ publicUrl: ORIGIN });
});
afterEach(() => pages.close());

const project = "default";
const pathOf = (url: string): string => url.slice(ORIGIN.length);
const actionOf = (page: string): string => /action="([^"]+)"/.exec(page)?.[1] ?? "";
const visitOf = (page: string): string => /name="visit" value="([^"]*)"/.exec(page)?.[1] ?? "";
const open = async (properties: Record<string, string> = { store: "lyon" }): Promise<string> => {
  const link = await pages.service.admin({ kind: "link.add", project, name: "Shop", property: properties });
  return pathOf(link.url);
};
const withKey = (key: string) => ({
  headers: { authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}` },
});
const set = (change: { name?: string; color?: string; logo?: string }) =>
  Object.keys(change).length === 0
    ? pages.service.admin({ kind: "brand.show", project })
    : pages.service.admin({ kind: "brand.set", project, ...change });
const base64 = (text: string | Buffer): string => Buffer.from(text).toString("base64");

async function answers(url: string, addresses: readonly string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const from of addresses) {
    const { status } = await pages.post(url, { score: "9" }, { from });
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}
function many(count: number, address: (at: number) => string): string[] {
  return Array.from({ length: count }, (_, at) => address(at));
}

describe("when a public link was made", () => {
  it("then whoever opens it answers as a person without an address", async () => {
    const url = await open();
    const page = await pages.get(`${url}?score=9`);
    expect([page.status, checkedScores(page.text), page.text.includes("<script")]).toEqual([200, ["9"], false]);
    expect([actionOf(page.text), visitOf(page.text)]).toEqual([url, expect.stringMatching(/^[\w-]{22}$/)]);
    const sent = await pages.post(url, { visit: visitOf(page.text), score: "9", comment: "Kind people" });
    expect([sent.status, sent.headers["location"]]).toEqual([200, undefined]);
    expect(visibleText(sent.text)).toMatch(/^Thank you! .* Your answer: 9 · Change /);
    const [response] = await pages.responses();
    expect(response).toMatchObject({ score: 9, comment: "Kind people", person_properties: { store: "lyon" } });
    const authorization = `Basic ${Buffer.from(`${KEY}:`).toString("base64")}`;
    const people = await pages.get("/v1/people.json", { headers: { authorization } });
    expect(JSON.parse(people.text)).toMatchObject([{ email: null, phone_number: null, name: null }]);
  });

  it("then each visitor has an answer of their own, sent twice or changed", async () => {
    const url = await open();
    const [one, other] = [visitOf((await pages.get(url)).text), visitOf((await pages.get(url)).text)];
    await Promise.all([
      pages.post(url, { visit: one, score: "9" }),
      pages.post(url, { visit: one, score: "9" }),
      pages.post(url, { visit: other, score: "2" }),
    ]);
    const changed = await pages.post(url, { visit: one, score: "8", comment: "On second thoughts" });
    expect([visitOf(changed.text), checkedScores(changed.text)]).toEqual([one, ["8"]]);
    const scores = async () =>
      (await pages.responses())
        .map(({ score, comment }) => [score, comment])
        .toSorted(([a], [b]) => Number(a) - Number(b));
    expect(await scores()).toEqual([
      [2, null],
      [8, "On second thoughts"],
    ]);
    pages.time.now += 31 * DAY;
    const late = await pages.post(url, { visit: one, score: "1" });
    expect([visibleText(late.text).includes("Your answer: 8"), late.text.includes("<form")]).toEqual([true, false]);
    expect(await scores()).toEqual([
      [2, null],
      [8, "On second thoughts"],
    ]);
  });

  it("then nothing in the address leads to an answer, and no page shows its comment again", async () => {
    const url = await open();
    const visit = visitOf((await pages.get(url)).text);
    const thanks = await pages.post(url, { visit, score: "3", comment: "My name is Ada" });
    expect(thanks.text).not.toContain("Ada");
    // The page's form has an empty comment.
    const changed = await pages.post(url, { visit, score: "4", comment: "" });
    expect([visibleText(changed.text).includes("Your answer: 4"), changed.text.includes("Ada")]).toEqual([true, false]);
    expect(await pages.responses()).toMatchObject([{ score: 4, comment: "My name is Ada" }]);
    expect((await pages.get(`${url}/${visit}`)).status).toBe(404);
    expect((await pages.post(`${url}/${visit}`, { score: "0" })).status).toBe(404);
    const shared = await pages.get(`${url}?visit=${visit}`);
    expect([shared.text.includes("Your answer"), visitOf(shared.text) === visit]).toEqual([false, false]);
    await pages.post(`${url}?visit=${visit}`, { score: "0" });
    await pages.post(url, { visit: "x", score: "1" });
    expect((await pages.responses()).map(({ score }) => score)).toEqual(expect.arrayContaining([0, 1, 4]));
  });

  it("then a mistake is shown in place, and a link without a language has the visitor's", async () => {
    const url = await open();
    const page = await pages.post(url, { comment: "Hm" }, { headers: { "accept-language": "de" } });
    expect([page.status, page.text.includes('<html lang="de"')]).toEqual([422, true]);
    const french = await pages.get(await open({ locale: "fr" }), { headers: { "accept-language": "de" } });
    expect(french.text).toContain('<html lang="fr"');
  });

  it("then one address cannot fill the list, and what was written is kept", async () => {
    const url = await open();
    const network = many(121, (at) => `2001:db8::${at.toString(16)}`);
    expect(await answers(url, network)).toEqual({ 200: 120, 429: 1 });
    const refused = await pages.post(url, { score: "9", comment: "Kept" }, { from: "2001:db8::1" });
    expect([refused.status, refused.headers["retry-after"], refused.text.includes("Kept")]).toEqual([429, "5", true]);
    expect(visibleText(refused.text)).toMatch(/^Too many answers have come from your network\. Please try again/);
    expect((await pages.post(url, { score: "9" }, { from: "2001:db8:0:1::1" })).status).toBe(200);
  });

  it("then a visitor may think again often, and not without end", async () => {
    const url = await open();
    const visit = visitOf((await pages.get(url)).text);
    const statuses = [];
    for (let at = 0; at < 22; at += 1)
      statuses.push((await pages.post(url, { visit, score: String(at % 11) }, { from: `198.51.100.${at}` })).status);
    expect(statuses).toEqual([...Array.from({ length: 21 }, () => 200), 429]);
    expect(await pages.responses()).toMatchObject([{ score: 9 }]);
    const refused = await pages.post(url, { visit, score: "3", comment: "Kept" });
    expect([refused.headers["retry-after"], refused.text.includes("Kept"), visitOf(refused.text)]).toEqual([
      "30",
      true,
      visit,
    ]);
    expect((await pages.post(url, { score: "3" })).status).toBe(200);
  });

  it("then a conference behind a few addresses may answer, 600 in ten minutes through one link", async () => {
    const url = await open();
    const hall = many(601, (at) => `198.51.100.${at % 6}`);
    expect(await answers(url, hall)).toEqual({ 200: 600, 429: 1 });
    expect(await answers(await open(), ["198.51.100.7"])).toEqual({ 200: 1 });
  });

  it("then it is listed, and ends when it is removed", async () => {
    const url = await open();
    const visit = visitOf((await pages.get(url)).text);
    await pages.post(url, { visit, score: "9" });
    const [link] = await pages.service.admin({ kind: "link.list", project });
    expect(link).toEqual({
      id: link?.id,
      name: "Shop",
      url: ORIGIN + url,
      properties: { store: "lyon" },
      created_at: pages.time.now,
    });
    await pages.service.admin({ kind: "link.remove", confirm: true, project, id: link?.id ?? "" });
    expect((await pages.get(url)).status).toBe(404);
    expect((await pages.post(url, { visit, score: "1" })).status).toBe(404);
    expect(await pages.responses()).toHaveLength(1);
    await expect(pages.service.admin({ kind: "link.remove", confirm: true, project, id: "999" })).rejects.toThrow(
      DomainError,
    );
  });
});

describe("when a response has a permalink", () => {
  let permalink = "";
  let signed = "";
  beforeEach(async () => {
    const due = await pages.send({ plan: "<b>pro</b>" });
    await pages.post(`/s/${due.token}`, { score: "3", comment: "<script>alert(1)</script>" });
    const [response] = await pages.responses();
    permalink = response?.permalink ?? "";
    signed = await signedPath(pages, response?.id);
  });

  it("then the project's key and a signed link show it, escaped and for no search engine", async () => {
    expect(signed).toMatch(/^\/r\/[\w-]{22}\?expires=\d+&signature=[\w-]{43}$/);
    for (const page of [await pages.get(signed), await pages.get(permalink, withKey(KEY))]) {
      expect([page.status, page.headers["x-robots-tag"], page.headers["cache-control"]]).toEqual([
        200,
        "noindex, nofollow",
        "no-store",
      ]);
      expect(page.text).not.toMatch(/<script>alert|<b>pro/);
      expect(visibleText(page.text)).toBe(
        "Ada: 3 of 10 <script>alert(1)</script> Email ada@example.com Answered 2025-06-15 16:06 UTC plan <b>pro</b>",
      );
    }
  });

  it("then the page has brand, zone, tags and notes, and nothing about how the survey looked", async () => {
    await set({ name: "Acme" });
    await pages.service.admin({ kind: "settings", project, tz: "Europe/Berlin" });
    const properties = { plan: "pro", locale: "de", thank_you_message: "Danke", delighted_intro_message: "Hi" };
    const due = await pages.send(properties, "grace@example.com");
    await pages.post(`/s/${due.token}`, { score: "9" });
    const { id = "", permalink: path = "" } = (await pages.responses()).at(-1) ?? {};
    const put = { tags: ["vip", "<b>"], notes: "Call back" };
    const headers = { ...withKey(KEY).headers, "content-type": "application/json" };
    await pages.call("PUT", `/v1/survey_responses/${id}.json`, { headers, body: JSON.stringify(put) });
    const page = await pages.get(path, withKey(KEY));
    expect(visibleText(page.text)).toMatch(
      /^Acme Ada: 9 of 10 No comment Email grace@example\.com Answered 2025-06-15 19:06 Europe\/Berlin Tags vip, <b> plan pro Note by \S+, 2025-06-15 19:06 Europe\/Berlin Call back$/,
    );
  });

  it("then nobody else learns whether there is one", async () => {
    const [link, unknown] = [await pages.get(permalink), await pages.get(`/r/${"x".repeat(22)}`)];
    expect([link.status, Object.keys(link.headers)]).toEqual([403, expect.not.arrayContaining(["www-authenticate"])]);
    expect([unknown.status, unknown.text]).toEqual([403, link.text]);
    expect((await pages.get(permalink, withKey("a-key-of-nobody-at-all"))).status).toBe(403);
    const added = await pages.service.admin({ kind: "project.add", name: "other" });
    expect((await pages.get(permalink, withKey(added.key))).status).toBe(404);
    const [, expires = ""] = /expires=(\d+)/.exec(signed) ?? [];
    for (const path of [
      signed.replace(expires, String(Number(expires) + 1)),
      signed.slice(0, -1),
      signed.replace(/(?<=signature=)./, (first) => (first === "_" ? "-" : "_")),
      signed.replace(/\/r\/[\w-]+/, `/r/${"x".repeat(22)}`),
      `${permalink}?expires=x&signature=y`,
    ])
      expect((await pages.get(path)).status).toBe(404);
    expect((await pages.call("POST", signed)).status).toBe(405);
  });

  it("then a visitor without a key reads whose page it is and what opens it", async () => {
    await set({ name: "Acme" });
    const text = "No access This page needs a key, or a link from surveyctl responses link .";
    expect(visibleText((await pages.get(permalink)).text)).toBe(`Acme ${text}`);
    // With several projects, the page can't name one.
    await pages.service.admin({ kind: "project.add", name: "other" });
    expect(visibleText((await pages.get(permalink)).text)).toBe(text);
  });

  it("then the signed link ends after 30 days", async () => {
    pages.time.now += 30 * DAY;
    expect((await pages.get(signed)).status).toBe(200);
    pages.time.now += 1;
    expect((await pages.get(signed)).status).toBe(404);
  });
});

describe("when a brand was set", () => {
  const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><rect width="90" height="30"/></svg>';

  it("then pages have its name, colour and logo, and mail its name and colour", async () => {
    const brand = await set({ name: "Acme", color: "#0A7", logo: base64(SVG) });
    expect(brand).toEqual({
      name: "Acme",
      color: "#00aa77",
      text_color: "#1d2329",
      logo_url: expect.stringMatching(/^http:\/\/survey\.test:8080\/logo\/[\w-]{22}$/) as string,
    });
    const logo = pathOf(brand.logo_url ?? "");
    const page = await pages.get(`/s/${(await pages.send()).token}`);
    expect(page.text).toContain(`<p class="brand"><img src="${logo}" alt="Acme" /></p>`);
    expect(page.text).toContain(":root{--accent:#00aa77;--on-accent:#1d2329;--link:#008059}");
    expect(page.headers["content-security-policy"]).toContain("; img-src 'self'; ");
    const picture = await pages.get(logo);
    expect([picture.status, picture.text, picture.headers["content-type"]]).toEqual([200, SVG, "image/svg+xml"]);
    expect(picture.headers["content-security-policy"]).toBe("default-src 'none'; style-src 'unsafe-inline'; sandbox");
    const mail = await pages.service.admin({ kind: "survey.preview", project, email: null, locale: null });
    expect([mail.from.startsWith("Acme <"), mail.html.includes("border-top:4px solid #00aa77")]).toEqual([true, true]);
    expect(mail.html).not.toContain("<img");
    await set({ name: "", color: "", logo: "" });
    expect((await pages.get(logo)).status).toBe(404);
    expect(await set({})).toEqual({ name: null, color: null, text_color: null, logo_url: null });
  });

  test.each<[string, { name?: string; color?: string; logo?: string }, string]>([
    [
      "a colour on which no text is readable",
      { color: "#777777" },
      "contrast 4.48 with white or dark text, must be at least 4.5",
    ],
    ["a colour by name", { color: "red" }, "is not a color such as #0a7 or #00aa77"],
    ["a colour that is a style", { color: "#0a7}body{display:none" }, "is not a color"],
    ["a name that is too long", { name: "x".repeat(101) }, "is too long (maximum is 100 characters)"],
    ["a logo that is not a picture", { logo: base64("<html>") }, "is not a PNG, JPEG or SVG file"],
    ["a logo that is too large", { logo: base64(Buffer.alloc(32 * 1024 + 1, SVG)) }, "is too large (maximum is 32 KB)"],
    ["a script in a logo", { logo: base64(SVG.replace("<rect", "<script>1</script><rect")) }, "an SVG with a script"],
    ["a handler in a logo", { logo: base64(SVG.replace("<rect", '<rect onload="x()"')) }, "an SVG with a script"],
    ["an entity in a logo", { logo: base64(`<!-- a --><svg ><!DOCTYPE x><a/></svg>`) }, "an SVG with a script"],
    ["a link in a logo", { logo: base64(SVG.replace("<rect", '<image href="http://x/"')) }, "loads something"],
    [
      "a style that loads",
      { logo: base64(SVG.replace("<rect", "<style>a{b:url(//x)}</style><rect")) },
      "loads something",
    ],
  ])("then %s is refused", async (_, change, problem) => {
    await expect(set(change)).rejects.toThrow(problem);
  });

  test.each([
    ["PNG", Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), "image/png"],
    ["JPEG", Buffer.from([0xff, 0xd8, 0xff, 0xe0]), "image/jpeg"],
    ["SVG with a gradient", Buffer.from(SVG.replace("<rect", '<use href="#a"/><rect fill="url(#b)"')), "image/svg+xml"],
  ])("then a %s is a logo", async (_, bytes, type) => {
    const { logo_url: url } = await set({ logo: base64(bytes) });
    expect((await pages.get(pathOf(url ?? ""))).headers["content-type"]).toBe(type);
  });
});

test("when a survey's page was opened and answered, then the operator sees how", async () => {
  const due = await pages.send();
  await pages.call("HEAD", `/s/${due.token}`);
  await pages.get(`/s/${due.token}?score=3`);
  await pages.get(`/s/${due.token}?score=9`);
  await pages.post(`/s/${due.token}`, { score: "9" });
  const history = await pages.service.admin({ kind: "delivery.show", project, email: "ada@example.com" });
  expect(history.surveys[0]?.page).toEqual({
    first_get_at: pages.time.now,
    gets: 2,
    scores: [3, 9],
    head_seen: true,
    answered_by: "button",
    answered_after: 3600,
  });
});
