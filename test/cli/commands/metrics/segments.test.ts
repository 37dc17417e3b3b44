import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client, Page, Parameters } from "../../../../src/client/client.ts";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { openEmbeddedService, type EmbeddedService } from "../../../helpers/embedded-service.ts";
import { type FlagWords, flagWords } from "../../../helpers/flag-words.ts";
import { runCommand } from "../../../helpers/run-command.ts";
import { fakeDeps, type FakeOptions, NOW } from "../../../helpers/fake-deps.ts";
import { responseRow } from "../../../helpers/list-service.ts";

const DAY = 86_400;

type Group = readonly [plan: string | null, at: number, detractors: number, passives: number, promoters: number];

function rowsOf(groups: readonly Group[]): JsonObject[] {
  const scores = groups.flatMap(([plan, at, ...counts]) =>
    counts.flatMap((count, kind) => Array.from({ length: count }, () => ({ plan, at, score: [3, 8, 10][kind] ?? 0 }))),
  );
  return scores.map(({ plan, at, score }, index) =>
    responseRow(index + 1, at, { score, person_properties: plan === null ? null : { plan, region: "EMEA" } }),
  );
}

function listClient(rows: readonly JsonObject[]): { client: Partial<Client>; asked: Parameters[] } {
  const asked: Parameters[] = [];
  const page: Client["page"] = async ({ parameters }): Promise<Page> => {
    asked.push(parameters);
    const [since, until] = [Number(parameters["since"] ?? 0), Number(parameters["until"] ?? Infinity)];
    const all = rows.filter(({ created_at: at }) => Number(at) >= since && Number(at) <= until);
    const first = (Number(parameters["page"]) - 1) * 100;
    const shown = all.slice(first, first + 100);
    return { rows: shown, text: JSON.stringify(shown), next: null, serverTime: NOW };
  };
  return { client: { baseUrl: "https://survey.example.com", page }, asked };
}

async function run(flags: FlagWords, rows: readonly JsonObject[], world: FakeOptions = {}) {
  const { client, asked } = listClient(rows);
  const { deps, out, err } = fakeDeps({ client, ...world });
  const ended = await runCommand(deps, ["metrics", ...flagWords({ segment: "plan", ...flags })]).catch(
    (error: unknown) => error,
  );
  return { ended, out: out(), err: err(), asked };
}

const json = { options: { output: "json" } } as const;
/** Simpson's paradox: every group rose, but the total fell. */
const MIXED: readonly Group[] = [
  ["pro", NOW - 15 * DAY, 0, 40, 40],
  ["free", NOW - 15 * DAY, 4, 14, 2],
  ["pro", NOW - 5 * DAY, 0, 24, 26],
  ["free", NOW - 5 * DAY, 8, 38, 4],
];
const TEN_DAYS = { since: NOW - 10 * DAY, until: NOW - 1, compare: "previous" };

describe("metrics --segment", () => {
  it("is one row a value, at full precision in JSON", async () => {
    const rows = rowsOf([
      ["pro", NOW - DAY, 6, 13, 32],
      ["free", NOW - DAY, 16, 30, 61],
      ["trial", NOW - DAY, 0, 0, 9],
      [null, NOW - DAY, 5, 0, 0],
    ]);
    const { ended, out, err } = await run({}, rows, json);
    const shown = JSON.parse(out) as JsonObject[];
    expect([ended, err]).toEqual([0, "note: 1 value with fewer than 10 answers not shown; --min-n sets the limit\n"]);
    expect(shown).toEqual([
      {
        property: "plan",
        value: "free",
        n: 107,
        share: 107 / 167,
        nps: 4500 / 107,
        nps_low: 27.09698839558351,
        nps_high: 54.72119342259832,
      },
      {
        property: "plan",
        value: "pro",
        n: 51,
        share: 51 / 167,
        nps: 2600 / 51,
        nps_low: 29.294854705446987,
        nps_high: 67.00144159084931,
      },
    ]);
  });

  it("reads both periods at once, and compares them", async () => {
    const { out, asked } = await run(TEN_DAYS, rowsOf(MIXED), json);
    const rows = JSON.parse(out) as JsonObject[];
    const rounded = rows.map((row) =>
      Object.values(row).map((value) => (typeof value === "number" ? Number(value.toFixed(3)) : value)),
    );
    expect(Object.keys(rows[0] ?? {})).toEqual("property value n share nps nps_low nps_high change p q".split(" "));
    expect(rounded).toEqual([
      ["plan", "free", 50, 0.5, -8, -20.982, 5.888, 1.148, 0.933, 0.933],
      ["plan", "pro", 50, 0.5, 52, 34.856, 63.257, 0.864, 0.925, 0.933],
    ]);
    expect(asked.every(({ since }) => Number(since) >= NOW - 20 * DAY)).toBe(true);
    // 200 rows take two pages and an empty one at the end.
    expect(asked.length).toBeLessThanOrEqual(5);
  });

  it("is a table with a dot and a whisker for each value on a terminal", async () => {
    const { out } = await run(TEN_DAYS, rowsOf(MIXED), { width: 80 });
    await expect(out).toMatchFileSnapshot("../../../golden/plots/segments-80.txt");
  });

  it("counts each choice of an answer, in all languages under the text that most were shown", async () => {
    const CHOICES = { c1: "Support", c2: "Price" };
    const german = { c1: "Hilfe", c2: "Preis" };
    const rows = [CHOICES, german, CHOICES, german, CHOICES].map((texts, index) => {
      const choices = Object.entries(texts).map(([id, text]) => ({ id, text }));
      const answer = {
        free_response: null,
        scale: null,
        select_one: null,
        // An import keeps the order in its file.
        select_many: index > 2 ? choices.slice(1) : index === 2 ? choices.toReversed() : choices,
      };
      const question = { id: "q1", type: "select_many", text: "What?" };
      return responseRow(index + 1, NOW - DAY, {
        additional_answers: [{ id: String(index), value: answer, question }],
      });
    });
    const asked = { segment: "answers.q1", "min-n": 1 };
    const { out } = await run(asked, rows, { options: { output: "csv", columns: ["value", "n", "share"] } });
    expect(out).toBe("value,n,share\nPrice,5,1\nSupport,3,0.6\n");
    const split = await run({ ...asked, since: NOW - 2 * DAY, compare: "previous", "explain-change": true }, rows);
    expect(split.ended).toMatchObject({
      message: "--explain-change: a response can have several values of answers.q1",
    });
  });

  it("says what a property of too many values is called, and shows no rows", async () => {
    const rows = Array.from({ length: 51 }, (_, index) =>
      responseRow(index, NOW - DAY, { person_properties: { plan: "pro", order: `o${index}` } }),
    );
    const { ended, out } = await run({ segment: "plan,order" }, rows);
    expect([ended, out]).toMatchObject([
      { name: "UsageError", message: "--segment: the property order has more than 50 values" },
      "",
    ]);
  });

  it("says in one sentence that no response has the property", async () => {
    const { ended, out } = await run({ segment: "regoin" }, rowsOf(MIXED));
    expect([ended, out]).toMatchObject([
      { name: "NothingFoundError", message: "no response has the property regoin", hint: "did you mean region?" },
      "",
    ]);
    const both = await run({ segment: "regoin,campaign" }, rowsOf(MIXED));
    expect([both.ended, both.out]).toMatchObject([{ message: "no response has the property regoin or campaign" }, ""]);
  });

  it("says so where the property is there without a value", async () => {
    const rows = [responseRow(1, NOW - DAY, { person_properties: { plan: "" } })];
    const { ended } = await run({ segment: "plan" }, rows);
    expect(ended).toMatchObject({ message: "no response has a value of the property plan", hint: null });
  });

  it("shows the properties that responses have, and notes those that none has", async () => {
    const { ended, out, err } = await run({ segment: "plan,regoin" }, rowsOf(MIXED), {
      options: { output: "csv", columns: ["property", "value"] },
    });
    expect([ended, out, err]).toEqual([
      0,
      "property,value\nplan,pro\nplan,free\n",
      "note: no response has the property regoin; did you mean region?\n",
    ]);
  });

  it("counts the responses that were chosen alone", async () => {
    const { out } = await run({ score: "10" }, rowsOf(MIXED), {
      options: { output: "csv", columns: ["value", "n", "nps"] },
    });
    expect(out).toBe("value,n,nps\npro,66,100\n");
  });

  it("colours a change where its q is below 0.05 alone", async () => {
    const rows = rowsOf([
      ["pro", NOW - 15 * DAY, 0, 10, 40],
      ["free", NOW - 15 * DAY, 10, 20, 20],
      ["pro", NOW - 5 * DAY, 40, 10, 0],
      ["free", NOW - 5 * DAY, 12, 20, 18],
    ]);
    const { out } = await run(TEN_DAYS, rows, { width: 100, options: { color: true } });
    const red = "\u001b[31m";
    expect([out.includes(`${red}-150.9`), out.includes(" -7.5"), out.includes(`${red}-7.5`)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("is empty where nobody answered, and says so", async () => {
    const err = expect.stringContaining("no responses in this period") as string;
    expect(await run({}, [], json)).toMatchObject({ ended: 0, out: "[]\n", err });
  });

  it("counts a property by its text, and leaves out what has none", async () => {
    const values = [5, "5", true, "", null, [1]];
    const rows = values.map((plan, index) => responseRow(index, NOW, { person_properties: { plan } }));
    const { out } = await run({ "min-n": 1 }, rows, { options: { output: "csv", columns: ["value", "n"] } });
    expect(out).toBe("value,n\n5,2\n[1],1\ntrue,1\n");
  });

  it("does not count a row without a score of 0 to 10", async () => {
    const rows = [10, 11, -1, 9.5, null, "10"].map((score, index) => responseRow(index, NOW, { score }));
    const { out } = await run({ "min-n": 1 }, rows, { options: { output: "csv", columns: ["value", "n"] } });
    expect(out).toBe("value,n\npro,1\n");
  });
});

describe("metrics --explain-change", () => {
  it("is mix and within, which add up to the change", async () => {
    const { out } = await run({ ...TEN_DAYS, "explain-change": true }, rowsOf(MIXED), json);
    const { change, mix, within, segments } = JSON.parse(out) as Record<string, number> & { segments: JsonObject[] };
    expect([change, mix, within].map((value) => value?.toFixed(9))).toEqual([
      "-16.000000000",
      "-18.000000000",
      "2.000000000",
    ]);
    expect(segments.map(({ value, n_before, n, nps_before, nps }) => [value, n_before, n, nps_before, nps])).toEqual([
      ["pro", 80, 50, 50, 52],
      ["free", 20, 50, -10, -8],
    ]);
  });

  it("is a table and a sentence on a terminal", async () => {
    const { out } = await run({ ...TEN_DAYS, "explain-change": true }, rowsOf([...MIXED, [null, NOW - DAY, 1, 0, 0]]), {
      width: 80,
    });
    await expect(out).toMatchFileSnapshot("../../../golden/plots/explained-80.txt");
  });

  it("says where there is nothing to compare with", async () => {
    const { ended } = await run({ ...TEN_DAYS, "explain-change": true }, rowsOf(MIXED.slice(2)));
    expect(ended).toMatchObject({ message: "no change to explain: one of the two periods has no responses" });
  });
});

describe("against the embedded service", () => {
  let embedded: EmbeddedService;
  beforeAll(async () => {
    embedded = await openEmbeddedService();
    const { client } = embedded;
    for (let index = 0; index < 24; index += 1) {
      const email = `person${index}@example.com`;
      const reply = await client.sendPerson({ email, send: false });
      const id = reply.kind === "answered" ? (reply.reply.json["id"] ?? null) : null;
      await client.addResponse({
        person: id,
        score: index % 11,
        created_at: NOW - DAY * (index % 3),
        person_properties: { plan: index % 2 === 0 ? "pro" : "free" },
      });
    }
  }, 60_000);
  afterAll(() => embedded.close());

  it("the values' answers are the service's own count", async () => {
    const { deps, out } = fakeDeps({ client: embedded.client, ...json });
    expect(await runCommand(deps, ["metrics", "--segment", "plan"])).toBe(0);
    const rows = JSON.parse(out()) as { value: string; n: number; nps: number }[];
    const { json: metrics } = await embedded.client.getMetrics({});
    expect(rows.map(({ value, n }) => [value, n])).toEqual([
      ["free", 12],
      ["pro", 12],
    ]);
    const pooled = rows.reduce((sum, { n, nps }) => sum + n * nps, 0) / 24;
    expect([Math.round(pooled), 24]).toEqual([metrics["nps"], metrics["response_count"]]);
  });
});
