import { describe, expect, it } from "vitest";
import { ROUTES } from "../../src/contract/routes.ts";
import { splitRowTexts } from "../../src/contract/row-texts.ts";
import { json, reset, type Behaviour, type SeenRequest } from "../helpers/misbehaving-server.ts";
import { collect, failureOf, withServer } from "./with-server.ts";

const rows = (from: number, count: number): { id: string }[] =>
  Array.from({ length: count }, (_, index) => ({ id: String(from + index) }));

const numbered =
  (total: number, most = 100) =>
  ({ target }: SeenRequest): Behaviour => {
    const query = new URL(target, "http://x").searchParams;
    const perPage = Math.min(Number(query.get("per_page") ?? 20), most);
    const from = (Number(query.get("page")) - 1) * perPage;
    return json(rows(from, Math.max(0, Math.min(perPage, total - from))));
  };

describe("page-numbered lists", () => {
  it.each([
    { total: 0, perPage: 100, most: 100, sizes: [], requests: 1 },
    { total: 5, perPage: 100, most: 100, sizes: [5], requests: 2 },
    { total: 100, perPage: 100, most: 100, sizes: [100], requests: 2 },
    { total: 250, perPage: 100, most: 100, sizes: [100, 100, 50], requests: 4 },
    { total: 45, perPage: undefined, most: 100, sizes: [20, 20, 5], requests: 4 },
    { total: 70, perPage: 100, most: 20, sizes: [20, 20, 20, 10], requests: 5 },
    { total: 50, perPage: 100, most: 50, sizes: [50], requests: 2 },
  ])(
    "when there are $total rows, $perPage asked for and at most $most given",
    async ({ total, perPage, most, sizes, requests }) => {
      const { client, server } = await withServer(numbered(total, most));
      const pages = await collect(client.listBounces(perPage === undefined ? {} : { per_page: perPage }));
      expect(pages.map((page) => page.rows.length)).toEqual(sizes);
      expect(pages.flatMap((page) => page.rows)).toEqual(rows(0, total));
      expect(server.requests).toHaveLength(requests);
    },
  );

  it.each([[[100, 1, 100]], [[3, 100, 7]], [[1, 1, 1]]])(
    "when pages hold %j rows, then every row comes",
    async (counts) => {
      const starts = counts.map((_, index) => counts.slice(0, index).reduce((sum, count) => sum + count, 0));
      const { client } = await withServer(({ number }) => json(rows(starts[number - 1] ?? 0, counts[number - 1] ?? 0)));
      const pages = await collect(client.listUnsubscribes({ per_page: 100 }));
      expect(pages.map((page) => page.rows.length)).toEqual(counts);
    },
  );

  it("when the numbers were typed and are text, then they count all the same", async () => {
    const { client } = await withServer(numbered(7));
    const pages = await collect(client.listResponses({ per_page: "2", page: "2" }));
    expect(pages.flatMap((page) => page.rows)).toEqual(rows(2, 5));
  });

  it.each([
    [3, 100, 2],
    [19, undefined, 2],
  ])("when it sends the same %i rows for every page of %s, then they are all", async (count, perPage, requests) => {
    const { client, server } = await withServer([json(rows(0, count))]);
    const pages = await collect(client.listUnsubscribes(perPage === undefined ? {} : { per_page: perPage }));
    expect(pages.flatMap((page) => page.rows)).toEqual(rows(0, count));
    expect(server.requests).toHaveLength(requests);
  });

  it("when the service ignores the page number, then it ends with an error", async () => {
    const { client, server } = await withServer([json(rows(0, 100))]);
    const error = await failureOf(collect(client.listUnsubscribes({ per_page: 100 })));
    expect(error).toMatchObject({
      name: "PagingError",
      message: `the service keeps sending the same page (page 2): GET ${server.baseUrl}/v1/unsubscribes.json`,
    });
    expect(server.requests).toHaveLength(2);
  });

  it("when the reader stops, then no further page is asked for", async () => {
    const { client, seen } = await withServer(numbered(1000));
    for await (const page of client.listResponses({ per_page: 10, order: "desc", expand: ["person"] }))
      if (page.rows.length > 0) break;
    expect(seen()).toEqual(["GET /v1/survey_responses.json?per_page=10&order=desc&expand[]=person&page=1"]);
  });

  it("when one page is asked for, then its rows keep their text", async () => {
    const { client } = await withServer(numbered(3));
    const page = await client.page({ route: ROUTES.listBounces, parameters: { page: 1 } });
    expect(splitRowTexts(page.text)).toEqual(['{"id":"0"}', '{"id":"1"}', '{"id":"2"}']);
  });
});

const linked = (targets: readonly (string | null)[]): Behaviour[] =>
  targets.map((target, index) => json(rows(index, 1), target === null ? {} : { link: `<${target}>; rel="next"` }));

describe("cursor lists", () => {
  it.each([
    ["relative", "/v1/people.json?page_info=b", "/v1/people.json?page_info=b"],
    ["a mere query", "?page_info=b&per_page=1", "/base/v1/people.json?page_info=b&per_page=1"],
    ["among others", 'x>; rel="prev", <?page_info=b', "/base/v1/people.json?page_info=b"],
  ])("when the link is %s, then it is followed on the same origin", async (_, target, path) => {
    const { client, seen } = await withServer(linked([target, null]), { basePath: "/base" });
    const pages = await collect(client.listPeople({ per_page: 1 }));
    expect(pages.flatMap((page) => page.rows)).toEqual([{ id: "0" }, { id: "1" }]);
    expect(seen()).toEqual(["GET /base/v1/people.json?per_page=1", `GET ${path}`]);
  });

  it("when the link is absolute and of the same origin, then it is followed", async () => {
    let origin = "";
    const pair = await withServer(({ number }) =>
      json(rows(number, 1), number < 3 ? { link: `<${origin}/v1/x.json?page_info=${number}>; rel="next"` } : {}),
    );
    origin = pair.server.baseUrl;
    expect(await collect(pair.client.listMembers("sms", {}))).toHaveLength(3);
    expect(pair.seen()).toEqual([
      "GET /v1/autopilot/sms/memberships.json",
      "GET /v1/x.json?page_info=1",
      "GET /v1/x.json?page_info=2",
    ]);
  });

  it.each([
    ["https://elsewhere.example.com/v1/people.json?page_info=b", "(https://elsewhere.example.com)"],
    ["//elsewhere.example.com/v1", "(http://elsewhere.example.com)"],
    ["https://127.0.0.1:1/v1", "(https://127.0.0.1:1)"],
    ["http://user:secret@127.0.0.1:1/v1", "(http://127.0.0.1:1)"],
    ["javascript:alert(1)", "(javascript://)"],
  ])("when the link is %s, then it is refused", async (target, named) => {
    const { client, server } = await withServer(linked([target, null]));
    const error = await failureOf(collect(client.listPeople({})));
    expect(error).toMatchObject({
      name: "PagingError",
      message: `refused a link to the next page that leaves the service ${named}: GET ${server.baseUrl}/v1/people.json`,
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [
      "to itself",
      ["/v1/people.json?page_info=a", "/v1/people.json?page_info=a"],
      "the link to the next page leads back to the same page",
    ],
    [
      "in a circle",
      ["?page_info=a", "?page_info=b", "?page_info=a"],
      'pagination loop: the server returned the same "next" link twice',
    ],
    ["nowhere", ["http://["], "the link to the next page is not a valid URL"],
  ])("when links lead %s, then it ends with an error", async (_, targets, message) => {
    const { client } = await withServer(linked(targets));
    expect((await failureOf(collect(client.listPeople({})))).message).toContain(message);
  });

  it("when every page has a new link and the same rows, then it ends with an error", async () => {
    const { client, server } = await withServer(({ number }) =>
      json(rows(0, 2), { link: `<?page_info=${number}>; rel="next"` }),
    );
    const error = await failureOf(collect(client.listPeople({})));
    expect(error).toMatchObject({
      name: "PagingError",
      message: `the service keeps sending the same page: GET ${server.baseUrl}/v1/people.json`,
    });
    expect(server.requests).toHaveLength(2);
  });

  it("when empty pages have new links, then the walk goes on", async () => {
    const { client } = await withServer(({ number }) =>
      json(number < 4 ? [] : rows(1, 1), number < 4 ? { link: `<?page_info=${number}>; rel="next"` } : {}),
    );
    expect((await collect(client.listPeople({}))).map((page) => page.rows.length)).toEqual([0, 0, 0, 1]);
  });

  it("when a page is empty and has a next, then the walk goes on", async () => {
    const { client } = await withServer([json([], { link: '<?page_info=a>; rel="next"' }), json(rows(1, 1))]);
    expect((await collect(client.listPeople({}))).map((page) => page.rows.length)).toEqual([0, 1]);
  });

  it("when a caller hands in a link of another origin, then it is refused", async () => {
    const { client } = await withServer([json([])]);
    const error = await failureOf(
      client.page({ route: ROUTES.listPeople, parameters: {}, next: "https://elsewhere.example.com/x" }),
    );
    expect(error.message).toBe("refused an address outside the service: GET https://elsewhere.example.com/x");
  });
});

describe("raw calls", () => {
  it("when a status refuses, then the answer comes as it is", async () => {
    const { client, server } = await withServer([json({ a: 1 }, { "x-request-id": "r1" }, 418)]);
    const answer = await client.raw({ method: "POST", url: `${server.baseUrl}/v1/any`, body: '{"b":2}' });
    expect(answer).toMatchObject({ status: 418, text: '{"a":1}', headers: { "x-request-id": "r1" } });
    expect(server.requests[0]).toMatchObject({ method: "POST", target: "/v1/any", body: '{"b":2}' });
  });

  it("when a read fails for a while, then it is repeated, and of a write that may have arrived nobody knows", async () => {
    const { client, server } = await withServer([
      json({}, {}, 500),
      json({ ok: true }),
      json({ message: "no" }, {}, 500),
    ]);
    expect((await client.raw({ method: "GET", url: `${server.baseUrl}/x` })).text).toBe('{"ok":true}');
    const { status, text, failure } = await client.raw({ method: "POST", url: `${server.baseUrl}/x`, body: "{}" });
    expect({ status, text, code: failure?.code, failed: failure?.status }).toEqual({
      status: 500,
      text: '{"message":"no"}',
      code: "outcome_unknown",
      failed: 500,
    });
    expect(failure?.details).toEqual({ message: "no" });
    expect(server.requests).toHaveLength(3);
  });

  it("when a write's connection breaks, then nobody knows whether it arrived", async () => {
    const { client, server } = await withServer([reset]);
    const error = await failureOf(client.raw({ method: "PATCH", url: `${server.baseUrl}/x`, body: "{}" }));
    expect(error).toMatchObject({ name: "UnknownOutcomeError", code: "outcome_unknown", status: null });
    expect(error.message).toMatch(/^the request may or may not have been processed: the connection to .* broke/);
    expect(server.requests).toHaveLength(1);
  });

  it("when the address lies elsewhere, then it is refused", async () => {
    const { client } = await withServer([json({})]);
    expect((await failureOf(client.raw({ method: "GET", url: "https://elsewhere.example.com/" }))).name).toBe(
      "PagingError",
    );
  });
});
