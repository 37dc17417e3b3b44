/** Replays the requests of two data pipelines with a source for this API against a real service. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Served, startServe } from "../helpers/serve.ts";

type Row = Readonly<Record<string, unknown>>;

const WEEK = 604_800;
const PAGE_SIZE = 100;
const FIRST = Math.floor(Date.now() / 1000) - 5 * WEEK + 3600;
const PEOPLE = 201;
const RESPONSES = 200;

let service: Served;
const asked: string[] = [];

async function get(url: string, headers: Readonly<Record<string, string>>): Promise<Response> {
  asked.push(url.slice(service.baseUrl.length));
  return fetch(url, { headers });
}

function look(): string[] {
  return asked.splice(0).map((url) => url.replace(/page_info=[^&]+/, "page_info=…"));
}

async function post(path: string, body: object): Promise<Row> {
  const headers = { ...authorized(), "content-type": "application/json" };
  const answer = await fetch(`${service.baseUrl}/v1/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Row;
}

const authorized = (key = service.apiKey): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}`,
  accept: "application/json",
});

const idsOf = (rows: readonly Row[], field = "id"): string[] => rows.map((row) => String(row[field]));
const people: string[] = [];
const responses: string[] = [];

beforeAll(async () => {
  service = await startServe();
  for (let index = 0; index < PEOPLE; index += 1)
    people.push(String((await post("people.json", { email: `p${index}@example.com`, send: false }))["id"]));
  for (let index = 0; index < RESPONSES; index += 1) {
    const created_at = FIRST + Math.floor((index * 4 * WEEK) / RESPONSES);
    responses.push(
      String((await post("survey_responses.json", { person: people[index], score: index % 11, created_at }))["id"]),
    );
  }
  for (let index = 0; index < 2; index += 1) await post("unsubscribes.json", { person_email: `p${index}@example.com` });
}, 60_000);
afterAll(() => service.stop());

function nextLink(answer: Response): string | null {
  return /<([^>]+)>;\s*rel="?next"?/.exec(answer.headers.get("link") ?? "")?.[1] ?? null;
}

describe("PostHog", () => {
  interface Stream {
    readonly path: string;
    readonly paged: "page" | "link";
    readonly extra?: readonly (readonly [string, string])[];
  }

  const STREAMS = {
    responses: { path: "/survey_responses.json", paged: "page", extra: [["expand[]", "person"]] },
    people: { path: "/people.json", paged: "link" },
    unsubscribes: { path: "/unsubscribes.json", paged: "page" },
    bounces: { path: "/bounces.json", paged: "page" },
  } as const satisfies Record<string, Stream>;

  /** Follows the next link if there is one, otherwise counts pages up while they are full. */
  async function sync(
    { path, paged, extra = [] }: Stream,
    more: readonly (readonly [string, string])[] = [],
  ): Promise<Row[]> {
    const rows: Row[] = [];
    const query = new URLSearchParams({ per_page: String(PAGE_SIZE) });
    for (const [name, value] of [...extra, ...more]) query.append(name, value);
    let url: string | null = `${service.baseUrl}/v1${path}?${query.toString()}`;
    while (url !== null) {
      const answer: Response = await get(url, authorized());
      expect(answer.status).toBe(200);
      const page = (await answer.json()) as Row[];
      rows.push(...page);
      const link = nextLink(answer);
      const following: URL = new URL(url);
      following.searchParams.set("page", String(Number(following.searchParams.get("page") ?? "1") + 1));
      url = link ?? (paged === "page" && page.length === PAGE_SIZE ? following.href : null);
    }
    return rows;
  }

  it("tells a good key from a bad one by the metrics, and syncs them as one row", async () => {
    const probe = await get(`${service.baseUrl}/v1/metrics.json`, authorized());
    expect([probe.status, (await probe.json()) as Row]).toEqual([
      200,
      expect.objectContaining({ response_count: RESPONSES }),
    ]);
    expect((await get(`${service.baseUrl}/v1/metrics.json`, authorized("wrong"))).status).toBe(401);
    look();
  });

  it("syncs all responses with their people, page by number until one isn't full", async () => {
    const rows = await sync(STREAMS.responses, [["order", "asc"]]);
    expect(idsOf(rows)).toEqual(responses);
    expect(rows[0]).toMatchObject({ person: { id: people[0], email: "p0@example.com" } });
    const query = "/v1/survey_responses.json?per_page=100&expand%5B%5D=person&order=asc";
    expect(look()).toEqual([query, `${query}&page=2`, `${query}&page=3`]);
  });

  it("syncs what changed since the last time, the oldest change first", async () => {
    const all = await sync(STREAMS.responses, [["order", "asc:updated_at"]]);
    const times = all.map((row) => Number(row["updated_at"]));
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    const since = String(times[150]);
    const rows = await sync(STREAMS.responses, [
      ["order", "asc:updated_at"],
      ["updated_since", since],
    ]);
    expect(idsOf(rows)).toEqual(idsOf(all.filter((row) => Number(row["updated_at"]) >= Number(since))));
    // All rows can have changed within one second, which takes more than one page.
    expect(look()).toContain(
      `/v1/survey_responses.json?per_page=100&expand%5B%5D=person&order=asc%3Aupdated_at&updated_since=${since}`,
    );
  });

  it("syncs people by links, unsubscribes and bounces by number", async () => {
    expect(idsOf(await sync(STREAMS.people))).toEqual(people);
    expect(look().map((url) => url.split("?")[0])).toEqual(["/v1/people.json", "/v1/people.json", "/v1/people.json"]);
    expect(idsOf(await sync(STREAMS.people, [["since", "4102444800"]]))).toEqual([]);
    expect(idsOf(await sync(STREAMS.unsubscribes), "person_id").toSorted()).toEqual(people.slice(0, 2).toSorted());
    expect(await sync(STREAMS.unsubscribes, [["since", "4102444800"]])).toEqual([]);
    expect(await sync(STREAMS.bounces)).toEqual([]);
  });
});

const key = (): Record<string, string> => ({ authorization: authorized()["authorization"] ?? "" });

function windows(start: number): (readonly [since: number, until: number])[] {
  const now = Math.floor(Date.now() / 1000);
  const found: (readonly [number, number])[] = [];
  for (let since = start; since <= now; since += WEEK) found.push([since, Math.min(since + WEEK - 1, now)]);
  return found;
}

async function byNumber(path: string, [sinceName, untilName]: readonly [string, string]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [since, until] of windows(FIRST - 60))
    for (let page = 1, isFull = true; isFull; page += 1) {
      const number = page === 1 ? "" : `&page=${page}`;
      const query = `per_page=${PAGE_SIZE}${number}&${sinceName}=${since}&${untilName}=${until}`;
      const answer = await get(`${service.baseUrl}/v1/${path}?${query}`, key());
      expect(answer.status).toBe(200);
      const found = (await answer.json()) as Row[];
      rows.push(...found);
      isFull = found.length === PAGE_SIZE;
    }
  return rows;
}

describe("Airbyte", () => {
  it("checks the connection and syncs responses by weeks of their changes", async () => {
    const rows = await byNumber("survey_responses.json", ["updated_since", "updated_until"]);
    expect(idsOf(rows).toSorted()).toEqual(responses.toSorted());
    expect(typeof rows[0]?.["person"]).toBe("string");
    expect(look().length).toBeGreaterThanOrEqual(windows(FIRST - 60).length);
  });

  it("syncs people by weeks and links, and repeats the parameters that a link lacks", async () => {
    const rows: Row[] = [];
    for (const [since, until] of windows(FIRST - 60)) {
      const given = new URLSearchParams({ per_page: String(PAGE_SIZE), since: String(since), until: String(until) });
      let url: URL | null = new URL(`${service.baseUrl}/v1/people.json?${given.toString()}`);
      while (url !== null) {
        const answer: Response = await get(url.href, key());
        expect(answer.status).toBe(200);
        rows.push(...((await answer.json()) as Row[]));
        const link = nextLink(answer);
        url = link === null ? null : new URL(link);
        for (const [name, value] of given)
          if (url !== null && !url.searchParams.has(name)) url.searchParams.append(name, value);
      }
    }
    expect(idsOf(rows)).toEqual(people);
  });

  it("syncs unsubscribes and bounces by weeks and numbers", async () => {
    const rows = await byNumber("unsubscribes.json", ["since", "until"]);
    expect(idsOf(rows, "person_id").toSorted()).toEqual(people.slice(0, 2).toSorted());
    expect(await byNumber("bounces.json", ["since", "until"])).toEqual([]);
  });
});
