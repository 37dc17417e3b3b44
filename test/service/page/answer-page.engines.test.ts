import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { size } from "../../helpers/long.ts";
import { DAY, sendInput } from "../domain/fixture.ts";
import { checkedScores, KEY, openPages, ORIGIN, type PageFixture, visibleText } from "./fixture.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import { claimDue } from "../domain/claim-due.ts";

let pages: PageFixture;
let url = "";
beforeEach(async () => {
  pages = await openPages();
  url = `/s/${(await pages.send({ plan: "pro" })).token}`;
});
afterEach(() => pages.close());

const PAGE_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": expect.stringMatching(
    /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
  ) as string,
  "content-type": "text/html; charset=utf-8",
  "cross-origin-opener-policy": "same-origin",
  date: expect.any(String) as string,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-request-id": expect.any(String) as string,
  "x-robots-tag": "noindex, nofollow",
};

const stored = async () =>
  (await pages.responses()).map(({ score, comment, person_properties, updated_at, created_at }) => ({
    score,
    comment,
    person_properties,
    changedAfter: Number(updated_at) - created_at,
  }));

describe("when the link is opened", () => {
  it("then the question is asked, nothing is chosen, and nothing is stored", async () => {
    const page = await pages.get(url);
    expect([page.status, page.headers]).toEqual([200, PAGE_HEADERS]);
    expect(checkedScores(page.text)).toEqual([]);
    expect(visibleText(page.text)).toBe(
      "How likely are you to recommend us to a friend? 0 1 2 3 4 5 6 7 8 9 10 0 – Not at all likely " +
        "10 – Extremely likely What is the main reason for your score? Optional Send",
    );
    expect(await stored()).toEqual([]);
  });

  it("then the style that the policy names is the style of the page", async () => {
    const { headers, text } = await pages.get(`${url}?score=9`);
    const hash = (name: string): string => {
      const [, content = ""] = new RegExp(`<${name}>([^]*?)</${name}>`).exec(text) ?? [];
      return `${name}-src 'sha256-${createHash("sha256").update(content).digest("base64")}'`;
    };
    expect(headers["content-security-policy"]).toContain(hash("style"));
    expect(headers["content-security-policy"]).toContain(`${hash("script")}; connect-src 'self'`);
  });

  test.each([
    ["?score=9", ["9"]],
    ["/9", ["9"]],
    ["/0", ["0"]],
    ["?score=10&utm_source=mail", ["10"]],
    ["?score=9&amp;x=1", ["9"]],
    ["?x=1&score=3", ["3"]],
    ["?score=11", []],
    ["?score=-1", []],
    ["?score=9.5", []],
    ["?score=", []],
    ["?score=9&score=3", []],
    ["?score=%00", []],
  ])("with %s, then %j is chosen and nothing is stored", async (rest, chosen) => {
    const page = await pages.get(url + rest);
    expect([page.status, checkedScores(page.text)]).toEqual([200, chosen]);
    expect(page.text.includes("Press Send to submit.")).toBe(chosen.length > 0);
    expect(await stored()).toEqual([]);
  });

  it("by HEAD or OPTIONS, then there are headers alone; other methods are refused", async () => {
    const [head, page] = [await pages.call("HEAD", url), await pages.get(url)];
    const length = { "content-length": String(Buffer.byteLength(page.text)) };
    expect(head).toEqual({ status: 200, headers: { ...PAGE_HEADERS, ...length }, text: "" });
    const { "content-type": _, ...plain } = { ...PAGE_HEADERS, allow: "GET, HEAD, POST, OPTIONS" };
    expect(await pages.call("OPTIONS", url)).toEqual({ status: 204, headers: plain, text: "" });
    expect(await pages.call("DELETE", url)).toEqual({ status: 405, headers: plain, text: "" });
    expect(await stored()).toEqual([]);
  });

  it("over https, then browsers are told to stay there", async () => {
    const secure = await openPages({ publicUrl: "https://example.com/surveys" });
    const path = `/s/${(await secure.send()).token}`;
    const page = await secure.get(path);
    expect(page.headers["strict-transport-security"]).toBe("max-age=31536000");
    expect(page.text).toContain(`action="/surveys${path}"`);
    const answered = await secure.post(path, { score: "9" });
    expect([answered.status, answered.headers["location"]]).toEqual([303, `/surveys${path}`]);
    await secure.close();
  });
});

describe("when the form is sent", () => {
  it("then the answer is stored with the survey's properties, and its page follows by a relative path", async () => {
    const { "content-type": _, ...headers } = { ...PAGE_HEADERS, location: url };
    expect(await pages.post(url, { score: "9", comment: "Fast" })).toEqual({ status: 303, headers, text: "" });
    expect(await stored()).toEqual([
      { score: 9, comment: "Fast", person_properties: { plan: "pro" }, changedAfter: 0 },
    ]);
    const thanks = await pages.get(url);
    expect([thanks.status, checkedScores(thanks.text)]).toEqual([200, ["9"]]);
    expect(visibleText(thanks.text)).toMatch(
      /^Thank you! Your answer has been saved\. Your answer: 9 · Change .* Send Fast$/,
    );
  });

  test.each<[string, Record<string, string>, unknown[]]>([
    ["the same again", { score: "9", comment: "Fast" }, [9, "Fast", 0]],
    ["another score alone", { score: "3" }, [3, "Fast", 5]],
    ["the score and an empty comment", { score: "9", comment: "" }, [9, null, 5]],
    ["another comment", { score: "9", comment: "Slow\r\nnow" }, [9, "Slow\nnow", 5]],
  ])("twice, then %s leaves one answer", async (_, again, [score, comment, changedAfter]) => {
    await pages.post(url, { score: "9", comment: "Fast" });
    pages.time.now += 5;
    expect((await pages.post(url, again)).status).toBe(303);
    expect(await stored()).toEqual([{ score, comment, person_properties: { plan: "pro" }, changedAfter }]);
  });

  it("again and again, then changes by the button and by the script end, each by itself", async () => {
    const change = async (at: number, more: Record<string, string> = {}): Promise<number> =>
      (await pages.post(url, { score: String(at % 11), ...more })).status;
    await pages.post(url, { score: "9", comment: "Fast" });
    const pressed = [];
    for (let at = 0; at < 21; at += 1) pressed.push(await change(at));
    expect(pressed).toEqual([...Array.from({ length: 20 }, () => 303), 429]);
    const refused = await pages.post(url, { score: "3" });
    expect([refused.status, refused.headers["retry-after"], checkedScores(refused.text)]).toEqual([429, "30", ["3"]]);
    // Resubmitting the page changes only the score.
    expect(refused.text).toMatch(/<textarea[^>]*>\s*Fast<\/textarea>/);
    const sent = [];
    for (let at = 0; at < 301; at += 1) sent.push(await change(at, { by: "script" }));
    expect(sent).toEqual([...Array.from({ length: 300 }, () => 204), 429]);
    pages.time.now += 30;
    expect(await change(7)).toBe(303);
    expect(await stored()).toMatchObject([{ score: 7, comment: "Fast" }]);
  });

  it("twice at the same moment, then one answer is stored", async () => {
    await Promise.all([pages.post(url, { score: "9" }), pages.post(url, { score: "9" })]);
    expect(await stored()).toHaveLength(1);
  });

  test.each<[string, Record<string, string> | string]>([
    ["no score", { comment: "Why not" }],
    ["a score beyond the scale", { score: "11", comment: "Why not" }],
    ["a score that is not a number", { score: "nine", comment: "Why not" }],
    ["two scores", "score=9&score=3&comment=Why+not"],
  ])("with %s, then the page says so first, keeps the comment, and stores nothing", async (_, body) => {
    const page = await pages.call("POST", url, { body });
    expect([page.status, page.headers]).toEqual([422, PAGE_HEADERS]);
    expect(page.text).toContain("<title>Error: How likely are you to recommend us to a friend?</title>");
    expect(visibleText(page.text)).toMatch(/^Choose a number from 0 to 10\. How likely/);
    expect(page.text).toContain('<a href="#score-0">');
    expect(page.text).toContain("autofocus");
    expect(page.text.match(/aria-invalid="true"/g)).toHaveLength(12);
    expect(page.text).toMatch(/<textarea[^>]*>\s*Why not<\/textarea>/);
    expect(await stored()).toEqual([]);
  });

  it("with a comment of more than 5,000 characters, then it is refused whole, and shown again", async () => {
    const comment = "é".repeat(5001);
    const page = await pages.post(url, { score: "9", comment });
    expect(page.status).toBe(422);
    expect(visibleText(page.text)).toMatch(/^The comment is too long\. The maximum is 5000 characters\./);
    expect(page.text).toContain(comment);
    expect(checkedScores(page.text)).toEqual(["9"]);
    expect(await stored()).toEqual([]);
    expect((await pages.post(url, { score: "9", comment: "😀".repeat(5000) })).status).toBe(303);
  });

  it("by the page's script, then there is no page, and who sent it is noted", async () => {
    expect((await pages.post(url, { score: "9", by: "script" })).status).toBe(204);
    expect(await stored()).toHaveLength(1);
    const survey = await pages.service.store.read((tx) => tx.requests.byToken(url.slice(3)));
    expect(survey?.pageFacts).toMatchObject({ answeredBy: "script", answeredAfter: 3600 });
  });

  it("after the person has unsubscribed, then the survey in hand is still answered", async () => {
    const due = await pages.send({}, "grace@example.com");
    expect((await pages.call("POST", `/u/${due.unsubscribeToken}`)).status).toBe(200);
    expect((await pages.post(`/s/${due.token}`, { score: "2" })).status).toBe(303);
    expect(await stored()).toHaveLength(1);
  });

  it("while the service is paused or drains, then it is stored all the same", async () => {
    await pages.service.admin({ kind: "pause", project: null });
    pages.service.setReady(false);
    expect((await pages.get(url)).status).toBe(200);
    expect((await pages.post(url, { score: "9" })).status).toBe(303);
    expect(await stored()).toHaveLength(1);
  });
});

describe("when time passes", () => {
  it("then an answer can be changed within its window, and later stays", async () => {
    await pages.post(url, { score: "9" });
    pages.time.now += 30 * DAY;
    expect((await pages.post(url, { score: "8" })).status).toBe(303);
    pages.time.now += 1;
    for (const late of [{ score: "7" }, { score: "7", by: "script" }, { score: "11" }, {}])
      expect((await pages.post(url, late)).status).toBe(303);
    expect(await stored()).toMatchObject([{ score: 8 }]);
    const page = await pages.get(`${url}?score=3`);
    expect([page.status, page.text.includes("<form")]).toEqual([200, false]);
    expect(visibleText(page.text)).toBe("Thank you! Your answer has been saved. Your answer: 8");
  });

  it("then a survey that was not answered within a year has ended", async () => {
    pages.time.now += 365 * DAY - 3600;
    expect((await pages.get(url)).status).toBe(200);
    pages.time.now += 1;
    const [shown, sent] = [await pages.get(url), await pages.post(url, { score: "9" })];
    expect([shown.status, sent.status]).toEqual([410, 410]);
    expect(shown.text).toBe(sent.text);
    expect(visibleText(shown.text)).toBe(
      "This survey has ended This link is no longer valid, and answers are no longer accepted.",
    );
    expect(await stored()).toEqual([]);
  });
});

describe("when a link is nobody's", () => {
  it("then unknown, erased and malformed ones get the same page", async () => {
    const authorization = `Basic ${Buffer.from(`${KEY}:`).toString("base64")}`;
    await pages.call("DELETE", "/v1/people/email%3Aada%40example.com", { headers: { authorization } });
    await pages.service.store.settle();
    const links = [
      url,
      `/s/${"x".repeat(22)}`,
      "/s/x",
      "/s/%00%ff",
      `${url}/11`,
      `${url}/score`,
      "/u/x",
      "/l/x",
      "/r/x",
    ];
    const answers = await Promise.all(links.map((link) => pages.get(link)));
    const [first] = answers;
    expect(visibleText(first?.text ?? "")).toBe(
      "Page not found This link is not valid. Please use the link in the message you received.",
    );
    for (const answer of answers) expect(answer).toEqual({ status: 404, headers: PAGE_HEADERS, text: first?.text });
    expect((await pages.post(url, { score: "9" })).text).toBe(first?.text);
  });

  it("then the page speaks the browser's language", async () => {
    const page = await pages.get("/s/x", { headers: { "accept-language": "xx, de-AT;q=0.9, en;q=0.5" } });
    expect(page.text).toContain('<html lang="de" dir="ltr">');
  });

  it("then whoever tries many waits, and those with a survey do not", async () => {
    const statuses = [];
    for (let tried = 0; tried < 61; tried += 1)
      statuses.push((await pages.get("/s/none", { from: `2001:db8::${tried}` })).status);
    expect(statuses).toEqual([...Array.from({ length: 60 }, () => 404), 429]);
    const from = "2001:db8:0::ff";
    const refused = await pages.get("/u/none", { from });
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "1"]);
    expect((await pages.get("/s/none", { from: "192.0.3.1" })).status).toBe(404);
    expect((await pages.get(url, { from })).status).toBe(200);
    expect((await pages.post(url, { score: "9" }, { from })).status).toBe(303);
  });

  it("then robots may fetch the pages, which say noindex", async () => {
    const { status, text, headers } = await pages.get("/robots.txt");
    expect([status, text]).toEqual([200, "User-agent: *\nDisallow:\n"]);
    expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
    expect((await pages.get(url)).headers["x-robots-tag"]).toBe("noindex, nofollow");
  });
});

describe("a link that was damaged on its way", () => {
  const DAMAGES: [string, string | null][] = [
    ["/s/TOKEN%3Fscore=9", "9"],
    ["/s/TOKEN%3fscore%3D9", "9"],
    ["/s/TOKEN%3Fscore%3D9%26utm_source%3Dmail", "9"],
    ["/s/TOKEN?score=9.", "9"],
    ["/s/TOKEN?score=9)", "9"],
    ["/s/TOKEN?score=9%20", "9"],
    ["/s/TOKEN?score=9%3E", "9"],
    ["/s/TOKEN?score=9?utm_source=mail", "9"],
    ["//s/TOKEN?score=9", "9"],
    ["/S/TOKEN?score=9", "9"],
    ["/S//TOKEN/9).", "9"],
    ["/s/TOKEN.", null],
    ["/s/TOKEN%20", null],
    ["/s/TOKEN%3E%0D%0A", null],
    ["/s/TOKEN%E3%80%82", null],
    ["/s/TOKEN/", null],
    ["/s/TOKEN%3F", null],
  ];
  it.each(DAMAGES)("opens as it was meant: %s", async (damaged, score) => {
    const { token } = await pages.send({}, "grace@example.com");
    const link = damaged.replace("TOKEN", token);
    const page = await pages.get(link);
    expect([page.status, checkedScores(page.text)]).toEqual([200, score === null ? [] : [score]]);
    expect((await pages.post(link, { score: "7" })).headers["location"]).toBe(`/s/${token}`);
  });

  it.each(["/U/TOKEN", "//u/TOKEN).", "/u/TOKEN%20"])("leaves by a mail program's one click: %s", async (damaged) => {
    const { unsubscribeToken } = await pages.send({}, "grace@example.com");
    const page = await pages.post(damaged.replace("TOKEN", unsubscribeToken), { "List-Unsubscribe": "One-Click" });
    expect([page.status, visibleText(page.text)]).toEqual([200, expect.stringContaining("You are unsubscribed")]);
  });

  it("has no token in the log", async () => {
    const { token } = await pages.send({}, "grace@example.com");
    await pages.get(`/S/${token}%3Fscore=9`);
    expect(pages.logged()).toContain('"path":"/s/*"');
    expect(pages.logged()).not.toContain(token);
  });
});

const HOSTILE = [
  `"><script>alert(1)</script>`,
  `</textarea></title></style><img src=x onerror=alert(1)>`,
  `' onfocus='alert(1)`,
  "{{7*7}}${7*7}",
  "\u202egnp.exe\u0000\u2028",
];

describe("when people wrote something hostile", () => {
  test.each(HOSTILE)("then %j is shown as text in every field", async (text) => {
    const properties = {
      question_product_name: text,
      thank_you_message: text,
      thank_you_link_text: text,
      thank_you_link_url: `https://example.com/?q=${text}`,
    };
    const due = await pages.send(properties, "eve@example.com");
    const asked = await pages.get(`/s/${due.token}`);
    const refused = await pages.post(`/s/${due.token}`, { comment: text });
    await pages.post(`/s/${due.token}`, { score: "9", comment: text });
    const thanked = await pages.get(`/s/${due.token}`);
    const left = await pages.get(`/u/${due.unsubscribeToken}`);
    for (const { text: page } of [asked, refused, thanked, left]) {
      expect(page).not.toMatch(/<script>alert|<img|onfocus='|onerror=alert\(1\)>/);
      expect(page.match(/<\/(?:textarea|title|style)>/g)?.length).toBeLessThanOrEqual(3);
    }
  });

  test.each([
    ["https://example.com/x", true],
    ["HTTP://example.com", true],
    ["javascript:alert(1)", false],
    ["data:text/html,x", false],
    ["https://", false],
    [" https://example.com", false],
  ])("then a thank-you link to %j is a link: %j", async (link, isLink) => {
    const due = await pages.send({ thank_you_link_url: link, thank_you_link_text: "Review us" }, "eve@example.com");
    await pages.post(`/s/${due.token}`, { score: "9" });
    const { text } = await pages.get(`/s/${due.token}`);
    expect([text.includes('rel="noopener noreferrer"'), text.includes("Review us")]).toEqual([isLink, isLink]);
  });
});

test("when pages are asked for, then no token is in the log", async () => {
  const due = await pages.send({}, "grace@example.com");
  await pages.get(`/s/${due.token}/9?score=3`);
  await pages.post(`/s/${due.token}`, { score: "9" });
  await pages.call("POST", `/u/${due.unsubscribeToken}`);
  const log = pages.logged();
  expect(log).toContain('"path":"/s/*"');
  for (const token of [due.token, due.unsubscribeToken]) expect(log).not.toContain(token.slice(0, 8));
});

const PEOPLE = size(200, 1000);

test(`when ${PEOPLE} people answer at once, then ${PEOPLE} answers are stored`, async () => {
  const { service, project } = pages;
  const tokens = await service.store.write(
    async (tx) => {
      for (let index = 0; index < PEOPLE; index += 1)
        await sendPerson(tx, project, sendInput({ email: `p${index}@example.com` }));
      const claim = { claimer: "one", channel: "email", leaseSeconds: 60, limit: PEOPLE } as const;
      return (await claimDue(tx, claim)).map(({ token }) => token);
    },
    { project: "all" },
  );
  const answers = await Promise.all(
    tokens.map((token, index) => pages.post(`/s/${token}`, { score: String(index % 11), comment: `number ${index}` })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
  expect(await service.store.read((tx) => tx.projects.counts(project.id))).toEqual({
    people: PEOPLE + 1,
    responses: PEOPLE,
  });
});

test("when a preview is opened and sent, then it looks like a survey and stores nothing", async () => {
  const page = await pages.get("/s/preview?locale=de&score=9");
  expect([page.status, checkedScores(page.text)]).toEqual([200, ["9"]]);
  expect(page.text).toContain('<html lang="de" dir="ltr">');
  expect((await pages.get("/s/preview-ja")).text).toContain('<html lang="ja"');
  expect((await pages.post("/s/preview?locale=de", { comment: "" })).status).toBe(422);
  const sent = await pages.post("/s/preview-de?score=3", { score: "9" });
  expect([sent.status, sent.headers["location"]]).toEqual([303, "/s/preview-de?answered=9"]);
  expect(visibleText((await pages.get(sent.headers["location"] ?? "")).text)).toContain("Ihre Antwort: 9");
  for (const method of ["GET", "POST"]) expect((await pages.call(method, "/u/preview-de")).status).toBe(200);
  expect(await stored()).toEqual([]);
});

test("when somebody's own host is asked for, then forms stay on it", async () => {
  const { text } = await pages.get(url);
  expect(text).toContain(`action="${url}"`);
  expect(text).not.toContain(ORIGIN);
});
