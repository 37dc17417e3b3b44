/** Reads the Parquet exports with a different library than the one that writes them. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { type ParquetReadOptions, parquetMetadata, parquetReadObjects, parquetSchema } from "hyparquet";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import type { SinkTotals } from "../../../src/bulk/export/byte-sink.ts";
import { toParquet } from "../../../src/cli/export/parquet-file.ts";
import type { JsonObject } from "../../../src/contract/json.ts";
import { runInside } from "../../helpers/in-process.ts";
import {
  type ListService,
  type ListServiceOptions,
  responseRow,
  startListService,
} from "../../helpers/list-service.ts";
import { bareEnvironment, type Ended, PROGRAM } from "../../helpers/run-cli.ts";

const START = 1_760_000_000;
const AT = new Date(START * 1000);

let folder = "";
let service: ListService | null = null;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-parquet-"));
});
afterEach(async () => {
  await service?.stop();
  service = null;
  await rm(folder, { recursive: true, force: true });
});

const at = (name: string): string => path.join(folder, name);

async function serve(options: ListServiceOptions): Promise<ListService> {
  service = await startListService(options);
  return service;
}

function run(...args: string[]): Promise<Ended> {
  return runInside({ args, home: folder, env: service?.env ?? {} });
}

interface Table {
  /** `name type`, with the logical type if any. */
  readonly columns: readonly string[];
  readonly rows: readonly Record<string, unknown>[];
}

async function readTable(bytes: Uint8Array): Promise<Table> {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ParquetReadOptions["file"];
  const { children } = parquetSchema(parquetMetadata(file as ArrayBuffer));
  const columns = children.map(({ element: { name, type, converted_type: meaning } }) =>
    [name, type, meaning].filter((word) => word !== undefined).join(" "),
  );
  return { columns, rows: await parquetReadObjects({ file }) };
}

const readFrom = async (name: string): Promise<Table> => readTable(await readFile(at(name)));

const ids = async (name: string): Promise<unknown[]> => (await readFrom(name)).rows.map(({ id }) => id);

const TEXT = "BYTE_ARRAY UTF8";
const TIME = "INT64 TIMESTAMP_MILLIS";
const RESPONSE_COLUMNS = [
  `id ${TEXT}`,
  `person_id ${TEXT}`,
  `person_email ${TEXT}`,
  `person_name ${TEXT}`,
  `survey_type ${TEXT}`,
  "score INT32",
  `comment ${TEXT}`,
  `permalink ${TEXT}`,
  `created_at ${TIME}`,
  `updated_at ${TIME}`,
  `person_properties ${TEXT}`,
  `notes ${TEXT}`,
  `tags ${TEXT}`,
  `additional_answers ${TEXT}`,
];
const FIRST = {
  id: "1",
  person_id: "1001",
  person_email: "p1@example.com",
  person_name: "Person 1",
  survey_type: "nps",
  score: 1,
  comment: 'Comment 1, "quoted"',
  permalink: "https://survey.example.com/r/1",
  created_at: AT,
  updated_at: AT,
  person_properties: '{"plan":"pro"}',
  notes: "[]",
  tags: "[]",
  additional_answers: "[]",
};

describe("responses export -o parquet", () => {
  it("writes typed columns: ids as text, scores as integers, times as UTC, properties as JSON", async () => {
    const odd = { comment: "", updated_at: null, person_properties: { größe: 5 }, tags: ["a\nb", "c"] };
    await serve({ lists: { survey_responses: [responseRow(1, START), responseRow(2, START, odd)] } });
    expect(await run("responses", "export", "-o", "parquet", "--out", at("r.data"), "-q")).toMatchObject({
      status: 0,
      stderr: "",
    });
    const second = {
      ...FIRST,
      id: "2",
      person_id: "1002",
      person_email: "p2@example.com",
      person_name: "Person 2",
      score: 2,
      comment: "",
      permalink: "https://survey.example.com/r/2",
      updated_at: null,
      person_properties: '{"größe":5}',
      tags: '["a\\nb","c"]',
    };
    expect(await readFrom("r.data")).toEqual({ columns: RESPONSE_COLUMNS, rows: [FIRST, second] });
  });

  it("is the format of a name that ends in .parquet, with a checksum, and of a pipe", async () => {
    await serve({ lists: { survey_responses: [responseRow(1, START)] } });
    const { status, stderr } = await run("responses", "export", "--out", at("r.parquet"), "--checksum");
    const bytes = await readFile(at("r.parquet"));
    const [sum] = (await readFile(at("r.parquet.sha256"), "utf8")).split(" ");
    expect([status, stderr]).toEqual([
      0,
      `Exported 1 response to ${at("r.parquet")} (${bytes.length} B, 2025-10-09T08:53:20Z – 2025-10-09T08:53:20Z, sha256 ${sum}); count verified\n`,
    ]);
    expect((await readTable(bytes)).rows).toEqual([FIRST]);
    expect((await stat(at("r.parquet"))).mode & 0o777).toBe(0o600);
    const args = [PROGRAM, "responses", "export", "-o", "parquet", "-q"];
    const env = bareEnvironment(folder, service?.env);
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, encoding: "buffer" });
    expect(stdout).toEqual(bytes);
  });

  it("adds a column for each answer, and with --flatten for each property", async () => {
    const answer = {
      id: "1",
      question: { id: "why", type: "free_response", text: "Why?" },
      value: { free_response: "x" },
    };
    const rows = [
      responseRow(1, START),
      responseRow(2, START + 1, { person_properties: { plan: "free", "a.b": true }, additional_answers: [answer] }),
    ];
    await serve({ lists: { survey_responses: rows } });
    await run("responses", "export", "--out", at("r.parquet"));
    const found = await readFrom("r.parquet");
    expect(found.columns).toEqual([...RESPONSE_COLUMNS, `answers.why ${TEXT}`]);
    expect(found.rows.map((row) => row["answers.why"])).toEqual([null, "x"]);
    await run(
      "responses",
      "export",
      "--flatten",
      "--columns",
      "score,person_properties.plan",
      "--out",
      at("f.parquet"),
    );
    expect(await readFrom("f.parquet")).toEqual({
      columns: [
        "score INT32",
        `person_properties.plan ${TEXT}`,
        `person_properties.a.b ${TEXT}`,
        `answers.why ${TEXT}`,
      ],
      rows: [
        { score: 1, "person_properties.plan": "pro", "person_properties.a.b": null, "answers.why": null },
        { score: 2, "person_properties.plan": "free", "person_properties.a.b": "true", "answers.why": "x" },
      ],
    });
  });

  it("keeps every digit of long numbers", async () => {
    const body = JSON.stringify([responseRow(1, START, { person_properties: { card: 0 } })])
      .replace('"id":"1","person"', '"id":98765432109876543210,"person"')
      .replace('"card":0', '"card":12345678901234567890');
    await serve({
      lists: {},
      onRequest: ({ path: name }) => (name.endsWith("survey_responses.json") ? { status: 200, body } : null),
    });
    await run(
      "responses",
      "export",
      "--columns",
      "id,person_properties,person_properties.card",
      "--out",
      at("r.parquet"),
    );
    expect((await readFrom("r.parquet")).rows).toEqual([
      {
        id: "98765432109876543210",
        person_properties: '{"card":12345678901234567890}',
        "person_properties.card": "12345678901234567890",
      },
    ]);
  });

  it("gives an empty list its columns", async () => {
    await serve({ lists: {} });
    await run("responses", "export", "--out", at("r.parquet"));
    expect(await readFrom("r.parquet")).toEqual({ columns: RESPONSE_COLUMNS, rows: [] });
  });

  it("writes only what is new with --state and a new file", async () => {
    const rows = [responseRow(1, START), responseRow(2, START + 60)];
    await serve({ lists: { survey_responses: rows } });
    const step = ["responses", "export", "--state", at("r.state"), "-q", "--out"];
    await run(...step, at("1.parquet"));
    rows.push(responseRow(3, Math.floor(Date.now() / 1000)));
    await run(...step, at("2.parquet"));
    expect([await ids("1.parquet"), await ids("2.parquet")]).toEqual([["1", "2"], ["3"]]);
  });

  it.each([
    ["score", "9.5", "score of row 1 is 9.5, which is no score, and a column of Parquet has one type"],
    ["created_at", '"soon"', 'created_at of row 1 is "soon", which is no time, and a column of Parquet has one type'],
  ])("refuses a %s of %s by name, and leaves the old file", async (field, value, message) => {
    const body = JSON.stringify([{ ...responseRow(1, START), [field]: JSON.parse(value) as never }]);
    await serve({ lists: {}, onRequest: () => ({ status: 200, body }) });
    await writeFile(at("r.parquet"), "old");
    expect(await run("responses", "export", "--out", at("r.parquet"))).toMatchObject({
      status: 1,
      stdout: "",
      stderr: `error: ${message}\nhint: use -o csv or -o ndjson, or leave the column out\n`,
    });
    expect([await readFile(at("r.parquet"), "utf8"), await readdir(folder)]).toEqual(["old", ["r.parquet"]]);
  });
});

const PERSON = { id: "7", email: "ann@example.com", name: null, created_at: START, phone_number: "+4930123456" };

test.each<[string, string[], Record<string, JsonObject[]>, Table]>([
  [
    "people",
    ["people", "export", "--flatten"],
    { people: [{ ...PERSON, last_sent_at: START, properties: { plan: "pro" } }] },
    {
      columns: [
        `id ${TEXT}`,
        `email ${TEXT}`,
        `name ${TEXT}`,
        `created_at ${TIME}`,
        `phone_number ${TEXT}`,
        `last_sent_at ${TIME}`,
        `last_responded_at ${TIME}`,
        `next_survey_scheduled_at ${TIME}`,
        `properties.plan ${TEXT}`,
      ],
      rows: [
        {
          ...PERSON,
          created_at: AT,
          last_sent_at: AT,
          last_responded_at: null,
          next_survey_scheduled_at: null,
          "properties.plan": "pro",
        },
      ],
    },
  ],
  [
    "people with a property that is a column already",
    ["people", "export", "--flatten", "--columns", "email,properties.plan"],
    { people: [{ ...PERSON, properties: { plan: "pro", "a.b": 5 } }] },
    {
      columns: [`email ${TEXT}`, `properties.plan ${TEXT}`, `properties.a.b ${TEXT}`],
      rows: [{ email: "ann@example.com", "properties.plan": "pro", "properties.a.b": "5" }],
    },
  ],
  [
    "bounces",
    ["bounces", "export"],
    { bounces: [{ person_id: "7", email: "ann@example.com", name: null, bounced_at: START }] },
    {
      columns: [`person_id ${TEXT}`, `email ${TEXT}`, `name ${TEXT}`, `bounced_at ${TIME}`],
      rows: [{ person_id: "7", email: "ann@example.com", name: null, bounced_at: AT }],
    },
  ],
  [
    "unsubscribes",
    ["unsubscribes", "export"],
    { unsubscribes: [{ person_id: "7", email: "ann@example.com", name: null, unsubscribed_at: START }] },
    {
      columns: [`person_id ${TEXT}`, `email ${TEXT}`, `name ${TEXT}`, `unsubscribed_at ${TIME}`],
      rows: [{ person_id: "7", email: "ann@example.com", name: null, unsubscribed_at: AT }],
    },
  ],
  [
    "autopilot",
    ["autopilot", "export", "--columns", "person_id,survey_scheduled_at,properties"],
    {
      memberships: [
        {
          person: PERSON,
          created_at: START,
          updated_at: START,
          next_survey_request: { id: "9", survey_scheduled_at: START, properties: { a: 1 } },
        },
      ],
    },
    {
      columns: [`person_id ${TEXT}`, `survey_scheduled_at ${TIME}`, `properties ${TEXT}`],
      rows: [{ person_id: "7", survey_scheduled_at: AT, properties: '{"a":1}' }],
    },
  ],
])("%s export has types too", async (_, args, lists, expected) => {
  await serve({ lists });
  expect(await run(...args, "--out", at("x.parquet"))).toMatchObject({ status: 0 });
  expect(await readFrom("x.parquet")).toEqual(expected);
});

test.each([
  [
    ["--append", "--out", "r.parquet"],
    "--append cannot add to a Parquet file\nhint: use --state with a new --out file for each run",
  ],
  [["--gzip", "--out", "r.parquet"], "a Parquet file is compressed already; leave out --gzip and .gz"],
  [["--out", "r.parquet.gz"], "a Parquet file is compressed already; leave out --gzip and .gz"],
  [["--excel", "--out", "r.parquet"], "--excel is for csv and tsv\nhint: add -o csv"],
  [["-o", "parquet", "--query", "[]"], "--query and --output parquet cannot be used together"],
  [["-o", "table"], "--output table is not a file format; use csv, tsv, json, ndjson or parquet"],
])("refuses %j before anything is sent", async (flags, message) => {
  const { requests } = await serve({ lists: {} });
  const { status, stdout, stderr } = await run("responses", "export", ...flags);
  expect([status, stdout, stderr, requests]).toEqual([2, "", `error: ${message}\n`, []]);
});

test("other commands have no such format", async () => {
  const { requests } = await serve({ lists: {} });
  const { status, stderr } = await run("people", "add", "--email", "ann@example.com", "-o", "parquet");
  expect([status, stderr, requests]).toEqual([
    2,
    expect.stringMatching(/^error: --output: "parquet" is not one of table, record, [a-z, ]+\n$/),
    [],
  ]);
});

const nothing = async (): Promise<void> => undefined;

test("many rows are written in groups", async () => {
  const written: Uint8Array[] = [];
  const totals: SinkTotals = { bytes: 0, sha256: "" };
  const output = toParquet({
    path: null,
    oldBytes: 0,
    keepOld: nothing,
    commit: nothing,
    discard: nothing,
    close: async () => totals,
    sink: {
      keep: nothing,
      write: async (text) => void written.push(Buffer.from(text)),
      end: async () => totals,
      destroy: () => undefined,
    },
  });
  const count = 120_000;
  const lines = Array.from({ length: count }, (_, index) => `["ä${index}",${index % 11}]\n`).join("");
  const bytes = Buffer.from(`[{"name":"id","type":"STRING"},{"name":"score","type":"INT32"}]\n${lines}`);
  // Chunks can end within a character.
  for (let start = 0; start < bytes.length; start += 65_537)
    await output.sink.write(bytes.subarray(start, start + 65_537));
  expect(await output.close()).toBe(totals);
  const file = Buffer.concat(written);
  const { rows } = await readTable(file);
  expect(rows).toHaveLength(count);
  expect(rows.every(({ id, score }, index) => id === `ä${index}` && score === index % 11)).toBe(true);
  const groups = parquetMetadata(new Uint8Array(file).buffer).row_groups.map(({ num_rows: n }) => Number(n));
  expect(groups).toEqual(Array.from({ length: 12 }, () => 10_000));
});
