import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { runInside } from "../helpers/in-process.ts";
import {
  answer,
  raw,
  startMisbehavingServer,
  type Behaviour,
  type MisbehavingServer,
  type SeenRequest,
} from "../helpers/misbehaving-server.ts";

let home = "";
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-odd-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

interface Spoken {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly requests: MisbehavingServer["requests"];
}

async function speak(script: (request: SeenRequest) => Behaviour | string, args: readonly string[]): Promise<Spoken> {
  const server = await startMisbehavingServer({
    script: (request) => {
      const done = script(request);
      return typeof done === "string" ? answer(200, done) : done;
    },
  });
  onTestFinished(() => server.stop());
  const env = { SURVEYCTL_BASE_URL: server.baseUrl, SURVEYCTL_API_KEY: "key-for-odd-services" };
  const flags = ["--retries", "1", "--max-wait", "2", "--settle", "0"];
  const { status, stdout, stderr } = await runInside({ args: [...args, ...flags], home, env });
  return { status, stdout, stderr: stderr.replaceAll(server.baseUrl, "URL"), requests: server.requests };
}

const posted = ({ requests }: Spoken): unknown[] =>
  requests.filter(({ method }) => method === "POST").map(({ body }) => JSON.parse(body) as unknown);

describe("a list of people that does not filter", () => {
  const OTHERS = '[{"id":"1","email":"eve@example.com"},{"id":"2","email":"bob@example.com"}]';

  it.each([
    ["people get", ["people", "get", "ada@example.com"], "ada@example.com", "email"],
    ["people get by phone", ["people", "get", "+14155550101"], "+14155550101", "phone number"],
    ["people update", ["people", "update", "ada@example.com", "--name", "Ada"], "ada@example.com", "email"],
    ["responses add", ["responses", "add", "--email", "ada@example.com", "--score", "9"], "ada@example.com", "email"],
  ])("when %s looks for somebody else, then nobody is taken for them", async (_, args, who, by) => {
    const ended = await speak(() => OTHERS, args);
    expect([ended.status, ended.stdout, ended.stderr, posted(ended)]).toEqual([
      1,
      "",
      `error: cannot look up ${who}: the service's list of people has no filter for ${by}\n`,
      [],
    ]);
  });

  it("when the person is on the page, then it is the person", async () => {
    const { status, stdout } = await speak(() => OTHERS, ["people", "get", "BOB@example.com", "--json"]);
    expect([status, stdout]).toEqual([0, '{"id":"2","email":"bob@example.com"}\n']);
  });
});

describe("ids that are numbers", () => {
  const ADD = ["responses", "add", "--email", "ada@example.com", "--score", "9", "--json"];

  it("when one is too long for a number, then a response goes to the person of exactly that id", async () => {
    const ended = await speak(
      ({ method }) =>
        method === "GET" ? '[{"id":9007199254740993,"email":"ada@example.com"}]' : '{"id":9007199254740995,"score":9}',
      ADD,
    );
    expect([ended.status, ended.stdout, posted(ended)]).toEqual([
      0,
      '{"id":9007199254740995,"score":9}\n',
      [{ person: "9007199254740993", score: 9 }],
    ]);
  });

  it.each([
    ["record", "id                  9007199254740993\n"],
    ["table", "ID                SCORE"],
    ["table", "9007199254740993      9"],
    ["csv", "9007199254740993,9007199254740995,"],
    ["json --columns id,person_id", '{"id":9007199254740993,"person_id":9007199254740995}'],
    ["ndjson --time iso", '{"id":9007199254740993,"person":9007199254740995,"score":9}'],
  ])("when they are shown as %s, then with all digits", async (format, line) => {
    const { stdout } = await speak(
      ({ target }) =>
        /[?&]page=1\b/.test(target) ? '[{"id":9007199254740993,"person":9007199254740995,"score":9}]' : "[]",
      ["responses", "list", "-o", ...format.split(" ")],
    );
    expect(stdout).toContain(line);
  });

  it.each([[], ["-o", "record"], ["-o", "csv"], ["--json"]])(
    "when one thing is shown (%s %s), too",
    async (...flags) => {
      const { stdout } = await speak(
        () => '[{"id":9007199254740993,"email":"ada@example.com"}]',
        ["people", "get", "ada@example.com", ...flags],
      );
      expect(stdout).toContain("9007199254740993");
    },
  );

  it("when there is none, then no response is sent", async () => {
    const ended = await speak(() => '[{"email":"ada@example.com"}]', ADD.slice(0, -1));
    expect([ended.status, ended.stderr, posted(ended)]).toEqual([
      1,
      "error: the service sent the person without an id\n",
      [],
    ]);
  });
});

const linked =
  (link: string) =>
  ({ target }: SeenRequest): Behaviour =>
    target.includes("page_info") ? answer(200, '[{"id":"2"}]') : answer(200, '[{"id":"1"}]', { link });

describe("a link to the next page", () => {
  const LIST = ["people", "list", "--all", "--output", "csv", "--columns", "id"];

  it.each(["<?page_info=b>; rel='next'", '<?page_info=b>;; title="; rel=prev" ; rel="next"'])(
    "when it is written as %s, then no row is lost",
    async (link) => {
      const { status, stdout } = await speak(linked(link), LIST);
      expect([status, stdout]).toEqual([0, "id\n1\n2\n"]);
    },
  );

  it("when it cannot be read, then the rows before it do not pass for all", async () => {
    const { status, stderr } = await speak(linked('?page_info=b; rel="next"'), LIST);
    expect([status, stderr]).toEqual([1, "error: the link to the next page cannot be read\n"]);
  });
});

const refusing =
  (refused: RegExp) =>
  ({ target }: SeenRequest): Behaviour =>
    refused.test(target) ? answer(404, "") : answer(503, "", { "retry-after": "2" });

describe("several requests at once of which one is refused", () => {
  const BY_MONTH = ["metrics", "--since", "2026-01-01", "--until", "2026-02-28", "--by", "month", "--tz", "UTC"];

  it.each([
    ["autopilot config", ["autopilot", "config"], /email/],
    [
      "metrics --compare",
      ["metrics", "--since", "2026-02-01", "--compare", "previous", "--tz", "UTC"],
      /since=1769904000/,
    ],
    ["metrics --by", BY_MONTH, /since=1767225600/],
  ])("when %s fails, then it ends and the other is not repeated", async (_, args, refused) => {
    const began = performance.now();
    const { status, stderr, requests } = await speak(refusing(refused), args);
    const errors = stderr.split("\n").filter((line) => line.startsWith("error: "));
    expect([status, requests.length, errors]).toEqual([5, 2, ["error: the service answered 404"]]);
    expect(performance.now() - began).toBeLessThan(1500);
  });
});

describe("metrics whose numbers are texts", () => {
  it.each([
    ["nps>=40", 0, ""],
    ["nps<40", 6, "error: assertion failed: nps<40 (nps is 50)\n"],
  ])("when %s is asserted, then the number counts", async (assertion, exit, said) => {
    const { status, stderr } = await speak(
      () => '{"nps":"50","response_count":"5"}',
      ["metrics", "--assert", assertion],
    );
    expect([status, stderr]).toEqual([exit, said]);
  });
});

const twice = (status: number, header: string): Behaviour =>
  raw(`HTTP/1.1 ${status} Twice\r\n${`${header}\r\n`.repeat(2)}content-length: 0\r\n\r\n`, { keepOpen: true });

describe("headers that come twice", () => {
  it("when a redirect has two locations, then the first is followed", async () => {
    const { status, requests } = await speak(
      ({ target }) => (target.startsWith("/there") ? "[]" : twice(302, "location: /there")),
      ["people", "list"],
    );
    expect([status, requests.map(({ target }) => target)]).toEqual([0, ["/v1/people.json?per_page=50", "/there"]]);
  });

  it("when a limit has two waits, then a write is repeated after the first", async () => {
    const ended = await speak(
      ({ number }) => (number === 1 ? twice(503, "retry-after: 1") : '{"id":"1","email":"ada@example.com"}'),
      ["people", "add", "--email", "ada@example.com"],
    );
    expect([ended.status, posted(ended).length]).toEqual([0, 2]);
  });
});

describe("answers before the answer", () => {
  it("when there are hints first, then they are passed over", async () => {
    const hints = "HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n";
    const { status, stdout } = await speak(
      () => raw(`${hints}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]`, { keepOpen: true }),
      ["people", "list", "--json"],
    );
    expect([status, stdout]).toEqual([0, "[]\n"]);
  });

  it.each([
    ["100 Continue", "answered 100 (Continue)"],
    ["101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c", "switched to another protocol (101)"],
  ])("when there is %j, then it is named and a write is looked up", async (start, words) => {
    const ended = await speak(
      ({ method }) => (method === "GET" ? "[]" : raw(`HTTP/1.1 ${start}\r\n\r\n`)),
      ["people", "add", "--email", "ada@example.com"],
    );
    const error = ended.stderr.split("\n").find((line) => line.startsWith("error: ")) ?? "";
    expect([ended.status, error.replace(/127\.0\.0\.1:\d+/, "HOST"), posted(ended).length]).toEqual([
      1,
      `error: the request may or may not have been processed: HOST ${words}, which was not asked for; a check found no trace of it`,
      1,
    ]);
  });
});

describe("an export", () => {
  const EXPORT = ["responses", "export", "--output", "csv", "--columns", "id", "--until", "1767225601"];

  it("when a page holds a row twice, then it is written once", async () => {
    const row = '{"id":"1","score":9,"created_at":1767225600}';
    const { stdout } = await speak(({ target }) => (/[?&]page=1\b/.test(target) ? `[${row},${row}]` : "[]"), EXPORT);
    expect(stdout).toBe("id\n1\n");
  });

  it("when times have parts of a second, then no row is lost and requests have whole seconds", async () => {
    const rows = Array.from({ length: 250 }, (_, at) => ({ id: String(at), created_at: 1_767_220_000.25 + at * 22.5 }));
    const { status, stdout, requests } = await speak(({ target }) => {
      const query = new URL(target, "http://localhost").searchParams;
      const [since, until, page] = ["since", "until", "page"].map((name) => Number(query.get(name) ?? Number.NaN));
      if (target.includes("metrics")) return '{"response_count":250}';
      const found = rows.filter(({ created_at: at }) => !(at < (since ?? 0)) && !(Math.floor(at) > (until ?? 0)));
      return JSON.stringify(found.slice(((page ?? 1) - 1) * 100, (page ?? 1) * 100));
    }, EXPORT);
    const wanted = rows.filter(({ created_at: at }) => at < 1_767_225_602).map(({ id }) => `${id}\n`);
    expect([status, stdout]).toEqual([0, `id\n${wanted.join("")}`]);
    expect(requests.filter(({ target }) => /(?:since|until)=\d+\./.test(target))).toEqual([]);
  });
});
