import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import type { HttpResponse } from "../../../src/contract/http.ts";
import { systemClock, type Clock } from "../../../src/runtime/clock.ts";
import { scoreChange } from "../../../src/insight/interval.ts";
import { signedText } from "../../../src/insight/report/facts.ts";
import type { ScoreTally } from "../../../src/service/domain/ports.ts";
import type { ResultOf } from "../../../src/service/operations/index.ts";
import { type EmbeddedService, openEmbeddedService } from "../../helpers/embedded-service.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";

type Row = Readonly<Record<string, unknown>>;

const DAY = 86_400;
/** A Thursday, 09:30 UTC. */
const NOW = Date.UTC(2026, 10, 26, 9, 30) / 1000;
const time = { now: NOW };
const clock: Clock = { ...systemClock, now: () => time.now * 1000, monotonic: () => time.now * 1000 };
const PLANS = ["free", "pro", "team"];

let embedded: EmbeddedService;
const ids: string[] = [];

beforeAll(async () => {
  embedded = await openEmbeddedService({ clock });
  for (let index = 0; index < 20; index += 1) {
    const body = { email: `person-${index}@example.com`, name: `Erika Muster${index}`, send: false };
    ids.push(String((await api("POST", "/v1/people.json", body)).id));
  }
  const random = seededRandom(7);
  const pick = (count: number): number => Math.floor(random() * count);
  for (let index = 0; index < 400; index += 1) {
    const comment = index % 3 === 0 ? `Call me at erika.muster${index}@example.com, Erika` : undefined;
    await api("POST", "/v1/survey_responses.json", {
      person: ids[pick(ids.length)],
      score: pick(11),
      ...(comment === undefined ? {} : { comment }),
      created_at: NOW - pick(500 * DAY),
      ...(index % 7 === 0 ? {} : { person_properties: { plan: PLANS[pick(PLANS.length)], order: `order-${index}` } }),
    });
  }
}, 60_000);
afterAll(() => embedded.close());

function textOf(body: HttpResponse["body"]): string {
  return typeof body === "string" ? body : "";
}

async function call(method: string, path: string, body?: object): Promise<HttpResponse> {
  return embedded.service.handle({
    method,
    url: embedded.baseUrl + path,
    headers: { authorization: `Basic ${btoa(`${embedded.apiKey}:`)}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function api(method: string, path: string, body?: object): Promise<Row> {
  const { status, body: text } = await call(method, path, body);
  if (status >= 300) throw new Error(`${status} ${textOf(text)}`);
  return JSON.parse(textOf(text)) as Row;
}

async function visit(path: string, method = "GET", from = "192.0.2.1"): Promise<HttpResponse & { text: string }> {
  const answer = await embedded.service.handle({ method, url: embedded.baseUrl + path, headers: {}, from });
  return { ...answer, text: textOf(answer.body) };
}

type Added = Omit<ResultOf<"share.add">, "url"> & { readonly path: string };

async function share(name: string, more: object = {}): Promise<Added> {
  const wanted = { name, trend: null, segment: [] as string[], comments: true, ...more };
  const { url, ...info } = await embedded.service.admin({ kind: "share.add", project: "default", ...wanted });
  return { ...info, path: url.slice(url.indexOf("/d/")) };
}

async function metricsOf({ since, until }: Row, trend?: string): Promise<Row> {
  const bounds = `since=${String(since)}&until=${String(until)}${trend === undefined ? "" : `&trend=${trend}`}`;
  return api("GET", `/v1/metrics.json?${bounds}`);
}

const RANGES = ["30d", "90d", "12m", "all"];

async function changeSomething(pick: (count: number) => number): Promise<void> {
  const created_at = time.now - pick(400 * DAY);
  const properties = { person_properties: { plan: PLANS[pick(3)] } };
  const added = await api("POST", "/v1/survey_responses.json", {
    person: ids[pick(ids.length)],
    score: pick(11),
    created_at,
    ...properties,
  });
  await api("PUT", `/v1/survey_responses/${String(added.id)}.json`, { score: pick(11), ...properties });
  const [gone] = ids.splice(0, ids.length > 10 ? 1 : 0);
  if (gone !== undefined) await call("DELETE", `/v1/people/${gone}.json`);
}

const countsOf = (rows: unknown): number[] => (rows as Row[]).map((row) => Number(row.response_count));

async function readResponses({ since, until }: Row): Promise<Row[]> {
  const pages = [1, 2, 3, 4, 5].map((page) =>
    call("GET", `/v1/survey_responses.json?since=${String(since)}&until=${String(until)}&per_page=100&page=${page}`),
  );
  return (await Promise.all(pages)).flatMap(({ body }) => JSON.parse(textOf(body)) as Row[]);
}

function tallyOf({ promoter_count, passive_count, detractor_count }: Row): ScoreTally {
  return {
    promoters: Number(promoter_count),
    passives: Number(passive_count),
    detractors: Number(detractor_count),
  };
}

function totalOf(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

describe("the numbers as CSV", () => {
  it("are the periods of the JSON with their counts, for the same link and ranges", async () => {
    const { path } = await share("Sheet");
    for (const range of RANGES) {
      const { periods } = JSON.parse((await visit(`${path}.json?range=${range}`)).text) as { periods: Row[] };
      const { status, headers, text } = await visit(`${path}.csv?range=${range}`);
      expect([status, headers["content-type"], headers["access-control-allow-origin"]]).toEqual([
        200,
        "text/csv; charset=utf-8; header=present",
        "*",
      ]);
      const [names = "", ...lines] = text.split("\r\n");
      expect([names, lines.pop()]).toEqual([
        "period,response_count,promoter_count,passive_count,detractor_count,nps,nps_low,nps_high",
        "",
      ]);
      const rows = lines.map((line) =>
        Object.fromEntries(line.split(",").map((cell, at) => [names.split(",")[at], cell])),
      );
      const shown = ({ period, response_count, nps, nps_low, nps_high }: Row): string =>
        [period, response_count, nps, nps_low, nps_high].join(",");
      expect(rows.map(shown)).toEqual(periods.map(shown));
      for (const row of rows)
        expect(Number(row["response_count"])).toBe(
          Number(row["promoter_count"]) + Number(row["passive_count"]) + Number(row["detractor_count"]),
        );
      // A leading sign is only allowed in a number; elsewhere it could start a formula.
      expect(text).toMatch(/^(?:(?:\w[\w-]*|-?\d+(?:\.\d+)?|)(?:,|\r\n))+$/);
    }
  });

  it("are refused like the page, and counted against the same limit", async () => {
    const { path } = await share("Refused");
    expect(await visit(`${path}.csv?range=1d`)).toMatchObject({ status: 400 });
    expect(await visit(`${path}.csv`, "POST")).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
    expect(await visit(`${path}.csv`, "HEAD")).toMatchObject({ status: 200, text: "" });
    expect(await visit(`${path}.csv`, "OPTIONS")).toMatchObject({ status: 204 });
    expect((await visit(`/d/${"x".repeat(22)}.csv`)).status).toBe(404);
  });
});

describe("the numbers", () => {
  it("when ranges, trends and changes of the data are many, then all of them are the API's", async () => {
    const trend = await embedded.service.admin({
      kind: "trend.add",
      project: "default",
      name: "Pro",
      where: { plan: "pro" },
    });
    await embedded.service.store.settle();
    const pages = [await share("All"), await share("Pro", { trend: trend.id })];
    const random = seededRandom(11);
    const pick = (count: number): number => Math.floor(random() * count);
    for (let round = 0; round < 50; round += 1) {
      time.now += 61;
      if (round % 3 === 0) await changeSomething(pick);
      const page = pages[round % 2]!;
      const shown = JSON.parse((await visit(`${page.path}.json?range=${RANGES[pick(4)]}`)).text) as Row;
      const wanted = await metricsOf(shown, page.trend ?? undefined);
      const { response_count, promoter_count, passive_count, detractor_count } = wanted;
      expect(shown).toMatchObject({ response_count, promoter_count, passive_count, detractor_count, nps: wanted.nps });
      expect([totalOf(shown.scores as number[]), totalOf(countsOf(shown.periods))]).toEqual([
        response_count,
        response_count,
      ]);
    }
  }, 60_000);

  it("a range is compared with the one before by the API's numbers, and all time with nothing", async () => {
    const { path } = await share("Compared");
    const shown = JSON.parse((await visit(`${path}.json?range=90d`)).text) as Row;
    const since = Number(shown.since);
    const [after, before] = [await metricsOf(shown), await metricsOf({ since: since - 90 * DAY, until: since - 1 })];
    const { change = 0 } = scoreChange(tallyOf(before), tallyOf(after)) ?? {};
    const score = async (range: string): Promise<string> => {
      const [, text = ""] = /<div class="score">(.*?)<\/div>/s.exec((await visit(`${path}?range=${range}`)).text) ?? [];
      return text
        .replaceAll(/<[^>]*>/g, "")
        .replaceAll(/\s+/g, " ")
        .trim();
    };
    expect([await score("90d"), await score("all")]).toEqual([
      `NPS ${Number(after.nps)} ${signedText(change)} points against the 90 days before: within chance`,
      expect.stringMatching(/^NPS -?\d+$/),
    ]);
  });

  it("when months are shown, then each is the month's own, and segments of at least ten answers have theirs", async () => {
    const { path } = await share("Segments", { segment: ["plan", "order"] });
    const shown = JSON.parse((await visit(`${path}.json`)).text) as Row & { periods: Row[] };
    expect(shown.periods.map(({ period }) => period)).toEqual([
      "2025-12",
      ...Array.from({ length: 11 }, (_, month) => `2026-${String(month + 1).padStart(2, "0")}`),
    ]);
    const march = { since: Date.UTC(2026, 2, 1) / 1000, until: Date.UTC(2026, 3, 1) / 1000 - 1 };
    const { response_count, nps } = await metricsOf(march);
    expect(shown.periods[3]).toMatchObject({ period: "2026-03", response_count, nps });
    const segments = shown.segments as Row[];
    // Every response has a different order number, so that property isn't a segment.
    expect(segments.map(({ property, value }) => `${String(property)} ${String(value)}`).toSorted()).toEqual(
      PLANS.map((plan) => `plan ${plan}`),
    );
    const pro = (await readResponses(shown)).filter((row) => (row.person_properties as Row).plan === "pro");
    const balance = pro.reduce((sum, { score }) => sum + (Number(score) >= 9 ? 1 : Number(score) <= 6 ? -1 : 0), 0);
    const found = segments.find(({ value }) => value === "pro");
    expect([found?.response_count, Number(found?.nps).toFixed(6)]).toEqual([
      pro.length,
      ((100 * balance) / pro.length).toFixed(6),
    ]);
  });
});

describe("the page", () => {
  it("when a colleague opens it, then it tells the score and no personal data, without script, cookie or request", async () => {
    const { path } = await share("Board");
    const { status, headers, text } = await visit(path);
    expect(status).toBe(200);
    expect(text).toMatch(/<p class="number"><small>NPS<\/small> -?\d+<\/p>/);
    expect(text).toMatch(/Between -?\d+ and -?\d+ \(95% interval\) · \d+ answers · 1 Dec 2025 – \d+ Nov 2026</);
    expect(text).toContain("Call me at [email-");
    expect(
      [/<script/, /muster\d*@example/i, /Erika/, /https?:\/\/(?!www\.w3\.org)/].filter((one) => one.test(text)),
    ).toEqual([]);
    expect(Buffer.byteLength(text)).toBeLessThan(300_000);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-robots-tag": "noindex, nofollow",
    });
    expect(headers["set-cookie"]).toBeUndefined();
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(text).toContain('<a href="?range=12m" aria-current="page">');
    expect(text).toMatch(/Computed at \d+ Nov 2026 \d\d:\d\d:\d\d UTC\./);
  });

  it("when a property has too many values or none, then that is said, and not that answers are too few", async () => {
    const { path } = await share("No segments", { segment: ["order", "nowhere"] });
    const text = (await visit(path)).text.replace(/\s+/g, " ");
    expect(text).toContain("The property <bdi>order</bdi> has more than 50 values, too many to show.");
    expect(text).toContain("No answer has the property <bdi>nowhere</bdi>.");
    expect(text).not.toContain("too few answers to say");
  });

  it("when comments are left out, then there are none, and an unknown range is refused", async () => {
    const { path } = await share("Quiet", { comments: false });
    expect((await visit(path)).text).not.toContain("Call me");
    const refused = await visit(`${path}?range=7d`);
    expect([refused.status, JSON.parse(refused.text)]).toEqual([
      400,
      { status: 400, message: "Bad Request: range is one of 30d, 90d, 12m, all" },
    ]);
    expect((await visit(path, "POST")).status).toBe(405);
    expect(await visit(path, "HEAD")).toMatchObject({ status: 200, text: "" });
  });

  it("other origins may read the numbers, and not the page", async () => {
    const { path } = await share("Wall");
    expect((await visit(`${path}.json`)).headers["access-control-allow-origin"]).toBe("*");
    expect(await visit(`${path}.json`, "OPTIONS")).toMatchObject({
      status: 204,
      headers: { "access-control-allow-origin": "*", "access-control-allow-methods": "GET, HEAD" },
    });
    expect((await visit(path)).headers).not.toHaveProperty("access-control-allow-origin");
    expect((await visit(`/d/${"x".repeat(22)}.json`, "OPTIONS")).status).not.toBe(204);
  });

  it("when many look within a minute, then they see one reckoning, and later a new one", async () => {
    const { path } = await share("Minute");
    const count = async (): Promise<unknown> => (JSON.parse((await visit(`${path}.json`)).text) as Row).response_count;
    const before = Number(await count());
    await api("POST", "/v1/survey_responses.json", { person: ids.at(-1), score: 10 });
    time.now += 30;
    expect(await count()).toBe(before);
    time.now += 31;
    expect(await count()).toBe(before + 1);
  });
});

describe("the link", () => {
  it("when it is wrong, removed or over, then it is as any unknown path, and its token is stored nowhere", async () => {
    const unknown = await visit("/nothing");
    const gone = await share("Gone");
    const short = await share("Short", { expires: 3600 });
    expect([(await visit(gone.path)).status, (await visit(short.path)).status]).toEqual([200, 200]);
    await embedded.service.admin({ kind: "share.remove", confirm: true, project: "default", id: "Gone" });
    time.now += 3601;
    for (const path of [gone.path, `${gone.path}.json`, short.path, "/d/wrong", "/d/", `/d/${"x".repeat(22)}`]) {
      const { status, text } = await visit(path);
      expect([status, text]).toEqual([unknown.status, unknown.text]);
    }
    const listed = await embedded.service.admin({ kind: "share.list", project: "default" });
    expect(JSON.stringify(listed)).not.toContain(short.path.slice("/d/".length));
    const rows = await embedded.service.store.read((tx) => tx.tables.page("shares", null, 100));
    expect(JSON.stringify(rows)).not.toContain(short.path.slice("/d/".length));
  });

  it("when a page's name is another page's id, then it is the one that is removed", async () => {
    const other = await share("Other");
    const named = await share(other.id);
    const { admin } = embedded.service;
    const remove = { kind: "share.remove", confirm: true, project: "default", id: other.id } as const;
    expect(await admin(remove)).toEqual({ id: named.id, name: other.id });
    expect([(await visit(other.path)).status, (await visit(named.path)).status]).toEqual([200, 404]);
    expect(await admin(remove)).toEqual({ id: other.id, name: "Other" });
  });

  it("when a digest has one, then it leads to the newest page of all answers, for 30 days and while there is that page", async () => {
    const { admin } = embedded.service;
    const read = async (): Promise<{ text: string; url: string | null }> => {
      const { text } = await admin({ kind: "digest.preview", project: "other" });
      return { text, url: /^Live page: (.*)$/m.exec(text)?.[1] ?? null };
    };
    const add = { kind: "share.add", project: "other", segment: [], comments: false } as const;
    await admin({ kind: "project.add", name: "other" });
    const trend = await admin({ kind: "trend.add", project: "other", name: "Pro", where: { plan: "pro" } });
    await admin({ ...add, name: "Older", trend: null });
    await admin({ ...add, name: "Newest", trend: null });
    await admin({ ...add, name: "Of a trend", trend: trend.id });
    const url = (await read()).url ?? "";
    const path = url.slice(url.indexOf("/d/"));
    const query = path.slice(path.indexOf("?") + 1);
    const { status, text } = await visit(path);
    const ranges = [...text.matchAll(/<a href="\?([^"]*)"/g)].map(([, link = ""]) => link.replaceAll("&#38;", "&"));
    expect([status, /<h1 dir="auto">(.*)<\/h1>/.exec(text)?.[1], ranges]).toEqual([
      200,
      "Newest",
      RANGES.map((range) => `range=${range}&${query}`),
    ]);
    expect((await visit(path.replace("?", "?range=all&"))).status).toBe(200);
    expect(JSON.parse((await visit(path.replace("?", ".json?"))).text)).toMatchObject({ name: "Newest" });
    const wrong = [path.replace("expires=1", "expires=2"), path.slice(0, -1), path.slice(0, path.indexOf("?"))];
    expect(await Promise.all(wrong.map(async (one) => (await visit(one)).status))).toEqual([404, 404, 404]);
    const before = time.now;
    time.now += 30 * DAY + 1;
    const late = (await visit(path)).status;
    time.now = before;
    await admin({ kind: "share.remove", confirm: true, project: "other", id: "Newest" });
    expect([late, (await visit(path, "GET", "192.0.2.2")).status, (await read()).url === url]).toEqual([
      404,
      404,
      false,
    ]);
    await admin({ kind: "share.remove", confirm: true, project: "other", id: "Older" });
    expect((await read()).url).toBeNull();
  });

  it("when an address guesses many, then it waits, and others do not", async () => {
    const { path } = await share("Guessed");
    const statuses = new Set<number>();
    for (let guess = 0; guess < 70; guess += 1)
      statuses.add((await visit(`/d/${String(guess).padStart(22, "x")}`, "GET", "198.51.100.7")).status);
    expect([...statuses]).toEqual([404, 429]);
    expect((await visit(path, "GET", "198.51.100.8")).status).toBe(200);
  });
});

test.each([
  [{ name: " " }, "name can't be blank"],
  [{ name: "a\u001b[31mb" }, "name must be one line without control characters"],
  [{ name: "Board" }, 'a page named "Board" already exists'],
  [{ name: "No trend", trend: "99" }, "project default has no trend 99"],
  [{ name: "Many", segment: ["a", "b", "c", "d", "e", "f"] }, "segment may be given for 5 properties at most"],
])("when a page is %j, then it is refused", async (more, message) => {
  await expect(share("", more)).rejects.toThrow(message);
});
