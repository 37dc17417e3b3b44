import { TimeoutError, UnknownOutcomeError, RefusedError } from "../../../../src/client/errors/call-errors.ts";
import { describe, expect, it } from "vitest";
import type { Deps } from "../../../../src/cli/kit/deps.ts";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { runCommand } from "../../../helpers/run-command.ts";
import { answered, fakeClient, type Answers } from "../../../helpers/fake-client.ts";
import { fakeDeps, type FakeOptions } from "../../../helpers/fake-deps.ts";
import { SAMPLE_PEOPLE, SAMPLE_RESPONSES } from "../../../helpers/sample-rows.ts";

const ADDED = SAMPLE_RESPONSES[0] ?? {};

function world(answers: Answers, options: FakeOptions = {}) {
  const { client, calls } = fakeClient(answers);
  return { calls, ...fakeDeps({ client, ...options }) };
}

const list = (deps: Deps, ...words: string[]) => runCommand(deps, ["responses", "list", ...words]);
const get = (deps: Deps, ...words: string[]) => runCommand(deps, ["responses", "get", ...words]);
const add = (deps: Deps, ...words: string[]) => runCommand(deps, ["responses", "add", "--score", "9", ...words]);

describe("responses list", () => {
  it("filters as the API names it", async () => {
    const { deps, calls } = world({});
    const times = ["--since", "1", "--until", "2", "--updated-since", "3", "--updated-until", "4"];
    const filters = [...times, "--trend", "t", "--person-id", "7", "--email", "a@b.co"];
    await list(deps, ...filters, "--order", "desc:updated_at", "--expand", "notes");
    const named = {
      since: 1,
      until: 2,
      updated_since: 3,
      updated_until: 4,
      trend: "t",
      person_id: "7",
      person_email: "a@b.co",
    };
    expect(calls).toEqual([
      { call: "listResponses", parameters: { ...named, order: "desc:updated_at", expand: ["notes"], per_page: 50 } },
    ]);
  });

  it.each<[FakeOptions, string[] | null]>([
    [{ width: 80 }, ["person", "notes"]],
    [{}, ["person", "notes"]],
    [{ options: { output: "csv" } }, ["person", "notes"]],
    [{ options: { output: "csv", columns: ["id", "score"] } }, null],
    [{ options: { output: "json" } }, null],
    [{ options: { output: "json", columns: ["person.email"] } }, ["person", "notes"]],
  ])("with %j asks for %j to be expanded", async (options, expand) => {
    const { deps, calls } = world({}, options);
    await list(deps);
    expect(calls).toMatchObject([{ parameters: { expand } }]);
  });
});

const counted = (count: number) => () => ({ response_count: count });
const uncounted = (): never => {
  throw new Error("no metrics");
};

it("a response that moved on to the next page, since another arrived, is listed once", async () => {
  const [one = {}, two = {}, three = {}] = SAMPLE_RESPONSES;
  const pages = [
    [one, two],
    [two, three],
    [{ score: 1 }, { score: 1 }],
  ];
  const { deps, out } = world({ cursor: false, pages }, { options: { output: "ndjson", columns: ["id"] } });
  await list(deps, "--newest", "--all", "--per-page", "2");
  const ids = [one, two, three, {}, {}].map(({ id = null }) => ({ id }));
  expect(out()).toBe(ids.map((row) => `${JSON.stringify(row)}\n`).join(""));
});

describe("what a list of responses says it shows", () => {
  const two = ["--limit", "2"];
  const rows = SAMPLE_RESPONSES.slice(0, 2);
  const said = async (
    words: readonly string[],
    answers: Answers,
    width: number | null = null,
  ): Promise<[string, string[]]> => {
    const { deps, calls, err } = world(
      { cursor: false, pages: [rows, SAMPLE_RESPONSES.slice(2, 4)], ...answers },
      { width },
    );
    await list(deps, ...(words.includes("--limit") ? [] : two), ...words);
    return [err(), calls.map((each) => each.call)];
  };

  it.each<[string, string[], number | null, string]>([
    ["in a pipe", [], null, "Showing the 2 oldest of 4,872 responses; --newest shows the newest first"],
    ["on a terminal", [], 80, "Showing the 2 oldest of 4,872 responses; --newest shows the newest first"],
    ["newest", ["--newest"], 80, "Showing the 2 newest of 4,872 responses; use --limit N or --all for more"],
    [
      "asc on a terminal",
      ["--order", "asc"],
      80,
      "Showing the 2 oldest of 4,872 responses; --newest shows the newest first",
    ],
    ["by update", ["--order", "asc:updated_at"], null, "Showing 2 of 4,872 responses; use --limit N or --all for more"],
    [
      "one row",
      ["--limit", "1", "--per-page", "2"],
      null,
      "Showing the oldest of 4,872 responses; --newest shows the newest first",
    ],
  ])("%s", async (_, words, width, sentence) => {
    expect(await said(words, { metrics: counted(4872) }, width)).toEqual([
      `${sentence}\n`,
      ["listResponses", "getMetrics"],
    ]);
  });

  it("counts what the filters let through", async () => {
    const { deps, calls } = world({ cursor: false, pages: [rows], metrics: counted(3) });
    await list(deps, ...two, "--since", "1", "--until", "2", "--trend", "t");
    expect(calls[1]).toEqual({ call: "getMetrics", parameters: { since: 1, until: 2, trend: "t" } });
  });

  it.each([
    ["--person-id", "7"],
    ["--email", "a@b.co"],
    ["--updated-since", "1"],
    ["--updated-until", "1"],
  ])("with %s %s, which no metrics know, looks at the next page", async (flag, value) => {
    expect(await said([flag, value], {})).toEqual([
      "Showing 2 rows; use --limit N or --all for more\n",
      ["listResponses", "listResponses again"],
    ]);
  });

  it("looks at the next page where the service does not count", async () => {
    expect((await said([], { metrics: uncounted }))[0]).toBe("Showing 2 rows; use --limit N or --all for more\n");
  });

  it("says nothing where these are all", async () => {
    const calls = ["listResponses", "getMetrics"];
    expect(await said([], { pages: [rows], metrics: counted(2) })).toEqual(["", calls]);
  });

  it("looks at the next page where the metrics count no more than is shown", async () => {
    const calls = ["listResponses", "getMetrics", "listResponses again"];
    const sentence = "Showing 2 rows; use --limit N or --all for more\n";
    expect(await said([], { metrics: counted(2) })).toEqual([sentence, calls]);
  });

  it("asks for no count where a row is of a kind that the metrics do not count", async () => {
    const other = [rows[0] ?? {}, { ...rows[1], survey_type: "csat" }];
    const sentence = "Showing 2 rows; use --limit N or --all for more\n";
    expect(await said([], { pages: [other, SAMPLE_RESPONSES.slice(2, 4)] })).toEqual([
      sentence,
      ["listResponses", "listResponses again"],
    ]);
  });

  it("counts from the first second where no start is given", async () => {
    const { deps, calls } = world({ cursor: false, pages: [rows], metrics: counted(3) });
    await list(deps, ...two);
    expect(calls[1]).toEqual({ call: "getMetrics", parameters: { since: 1, until: null, trend: null } });
  });
});

it.each<[number | null, string | null, string | null]>([
  [80, null, null],
  [80, "asc", "asc"],
  [null, null, null],
  [null, "desc:updated_at", "desc:updated_at"],
])("on a terminal of %s columns with --order %s asks for the order %s", async (width, order, asked) => {
  const { deps, calls } = world({}, { width });
  await list(deps, ...(order === null ? [] : ["--order", order]));
  expect(calls).toMatchObject([{ parameters: { order: asked } }]);
});

describe("responses add", () => {
  it("sends what was given and shows the answer", async () => {
    const { deps, calls, out } = world({ write: answered(ADDED) }, { options: { output: "json" } });
    const words = ["--person-id", "7", "--comment", "Good", "--property", "plan=pro", "--created-at", "5"];
    expect(await add(deps, ...words)).toBe(0);
    expect([calls, out()]).toEqual([
      [
        {
          call: "addResponse",
          parameters: { person: "7", score: 9, person_properties: { plan: "pro" }, comment: "Good", created_at: 5 },
        },
      ],
      `${JSON.stringify(ADDED)}\n`,
    ]);
  });

  it("looks the person up by e-mail, also for a dry run", async () => {
    const { deps, calls, out } = world({ pages: [[SAMPLE_PEOPLE[1] ?? {}]] }, { options: { dryRun: true } });
    expect(await add(deps, "--email", "person2@example.com", "--score", "0")).toBe(0);
    expect([calls, out()]).toEqual([
      [{ call: "listPeople", parameters: { email: "person2@example.com" } }],
      '{"method":"POST","url":"https://survey.example.com/v1/survey_responses.json","body":{"person":"2","score":0}}\n',
    ]);
  });

  it("fails when there is nobody of that e-mail", async () => {
    const { deps, calls } = world({ pages: [[]] });
    await expect(add(deps, "--email", "no@body.co")).rejects.toMatchObject({
      name: "NothingFoundError",
      message: "no person found with email no@body.co",
      hint: "add them first: surveyctl people add --email no@body.co --no-send",
    });
    expect(calls).toHaveLength(1);
  });

  it("looks the person up by phone", async () => {
    const { deps } = world({ pages: [[]] });
    await expect(add(deps, "--phone", "+14155550000")).rejects.toMatchObject({
      message: "no person found with phone number +14155550000",
      hint: "add them first: surveyctl people add --phone +14155550000 --no-send",
    });
  });

  it("never lets a lost answer look like a failure", async () => {
    const call = { method: "POST", url: "https://survey.example.com/v1/survey_responses.json" };
    const lost = new UnknownOutcomeError(new TimeoutError("no answer", { call, sent: "maybe" }), null);
    const { deps } = world({ write: { kind: "unknown", error: lost } });
    await expect(add(deps, "--person-id", "7")).rejects.toMatchObject({
      name: "UnknownOutcomeError",
      hint: 'look with "surveyctl responses list --person-id 7" before trying again: a repeat would count twice',
    });
  });
});

const refusedWith = (status: number, errors: JsonObject) => (): never => {
  const call = { method: "GET", url: "https://survey.example.com/v1/metrics.json" };
  throw new RefusedError(`the service answered ${status}`, { call, status, details: { status, errors } });
};

const unknownPerson = async (): Promise<never> => refusedWith(422, { person: ["does not exist"] })();

describe("responses get", () => {
  it("shows one response with the person in it", async () => {
    const { deps, calls, out } = world({ response: () => SAMPLE_RESPONSES[0] ?? {} });
    expect(await get(deps, "1")).toBe(0);
    expect(calls).toEqual([{ call: "getResponse", parameters: { id: "1", expand: ["person", "notes"] } }]);
    expect(out()).toContain("person_email\tperson1@example.com\n");
  });

  it("is what the service sent as JSON", async () => {
    const { deps, calls, out } = world({ response: () => ({ id: "1", later: 1 }) }, { options: { output: "json" } });
    await get(deps, "1");
    expect([calls, out()]).toEqual([
      [{ call: "getResponse", parameters: { id: "1", expand: null } }],
      '{"id":"1","later":1}\n',
    ]);
  });

  it.each([
    [404, "no response with id 99, or the service cannot look up responses by id"],
    [405, "this service cannot look up a response by id"],
  ])("when the answer is %i, then it says so", async (status, what) => {
    const { deps } = world({ response: refusedWith(status, {}) });
    await expect(get(deps, "99")).rejects.toMatchObject({
      name: "RefusedError",
      what,
      status,
    });
  });
});

it("when the trend is not there, then a list says so in its own terms", async () => {
  const { deps } = fakeDeps({ client: { listResponses: refusedWith(422, { trend: ["does not exist"] }) } });
  await expect(list(deps, "--trend", "99")).rejects.toMatchObject({
    name: "RefusedError",
    what: "no trend 99",
    details: { errors: { trend: ["does not exist"] } },
  });
});

it("when something else is refused, then the service's words stay", async () => {
  const { deps } = fakeDeps({ client: { listResponses: refusedWith(422, { since: ["is invalid"] }) } });
  await expect(list(deps, "--trend", "99")).rejects.toMatchObject({
    what: "the service answered 422",
  });
});

describe("responses add, in its own terms", () => {
  it("shows the address that the person was named by", async () => {
    const person = { id: "7", email: "ada@example.com", name: "Ada" };
    const { deps, out } = world({ pages: [[person]], write: answered({ id: "1", person: "7", score: 9 }) });
    await add(deps, "--email", "ada@example.com");
    expect(out()).toContain("person_id\t7\nperson_email\tada@example.com\nperson_name\tAda\n");
  });

  it("says that there is nobody of that id", async () => {
    const { deps } = fakeDeps({ client: { addResponse: unknownPerson } });
    await expect(add(deps, "--person-id", "99999")).rejects.toMatchObject({
      what: "no person with id 99999",
      hint: "surveyctl people list shows the ids",
    });
  });
});
