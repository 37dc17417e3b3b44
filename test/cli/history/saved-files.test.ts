import { mkdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NOW } from "../../helpers/fake-deps.ts";
import { openPastStore, type PastStore } from "../../helpers/past-store.ts";

let store: PastStore;
let folder: string;

beforeEach(async () => {
  store = await openPastStore();
  folder = path.join(store.folder, "saved");
});
afterEach(async () => store.close());

const ada = '{"id":"1","email":"ada@example.com","created_at":1700000000}\n';
const left = `{"person_id":"1","email":"ada@example.com","unsubscribed_at":${NOW - 90}}\n`;

describe("files that are symbolic links", () => {
  test("when a folder is mounted as Kubernetes does it, then each file is read once, by the name beside it", async () => {
    await mkdir(path.join(folder, "..2026_11_24"), { recursive: true });
    await writeFile(path.join(folder, "..2026_11_24", "people.ndjson"), `${ada}{"id":"2","email":"no address"}\n`);
    await writeFile(path.join(store.folder, "left.ndjson"), left);
    await symlink("..2026_11_24", path.join(folder, "..data"));
    await symlink("..data/people.ndjson", path.join(folder, "people.ndjson"));
    await symlink("../left.ndjson", path.join(folder, "left.ndjson"));
    await symlink(".", path.join(folder, "again"));
    await symlink("nowhere", path.join(folder, "notes.txt"));
    const seen = await store.import({}, { paths: [folder, path.join(folder, "people.ndjson")] });
    expect([seen.exit, seen.err]).toEqual([
      3,
      `${path.join(folder, "people.ndjson")}:2: email "no address" contains a space\n`,
    ]);
    const { people } = await store.dump();
    expect(people?.map(({ id, unsubscribed_at: at }) => [id, at])).toEqual([[1, NOW - 90]]);
  });

  test("when one leads to no file, then it is named and nothing is written", async () => {
    await mkdir(folder);
    await writeFile(path.join(folder, "people.ndjson"), ada);
    await symlink("nowhere", path.join(folder, "left.ndjson"));
    const seen = await store.import({}, { paths: [folder] });
    const link = path.join(folder, "left.ndjson");
    expect([seen.exit, seen.error]).toEqual([null, `${link} is a symbolic link to a file that cannot be read`]);
    expect((await store.dump()).people).toEqual([]);
  });
});

const person = (id: number): string => `{"id":"${id}","email":"p${id}@example.com","created_at":1700000000}`;

describe("lines of NDJSON that are no row", () => {
  const garbage = ["<html>", "id,email", '{"id":"9",}', "[1]", "null", '{"id":"9","email":"p9@ex', '{"a":{"b":1}'];
  const problems = [...Array(3).fill("not valid JSON"), ...Array(2).fill("expected an object")] as string[];

  test("when some are damaged, then each is refused by its line, and the others are kept", async () => {
    const text = [person(1), ...garbage, "", person(2), `${person(3)}\r`, person(4)].join("\n");
    const seen = await store.import({ "a.ndjson": text });
    const reasons = [...problems, "not valid JSON", "not valid JSON"];
    expect([seen.exit, seen.err]).toEqual([3, reasons.map((reason, at) => `a.ndjson:${at + 2}: ${reason}\n`).join("")]);
    expect(JSON.parse(seen.out)).toMatchObject({
      streams: [{ stream: "people", read: 11, kept: 4, refused: 7 }],
    });
    const { people } = await store.dump();
    expect(people?.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  });

  test.for([
    [
      "cut off inside its last line",
      `${person(1)}\n${person(2).slice(0, -4)}`,
      2,
      "an object that begins here has no end; the file is cut off",
    ],
    ["damaged in its first line", `${person(1).slice(0, -4)}\n${person(2)}\n`, 1, "not valid JSON"],
  ] as const)("when a file is %s, then that line is refused", async ([, text, line, reason]) => {
    const seen = await store.import({ "a.ndjson": text });
    expect([seen.exit, seen.err]).toEqual([3, `a.ndjson:${line}: ${reason}\n`]);
    expect((await store.dump()).people).toHaveLength(1);
  });

  test("when a damaged line is longer than what is read at once, then the next one is kept", async () => {
    const long = `{"id":"1","name":"${"x".repeat(200_000)}`;
    const seen = await store.import({ "a.ndjson": [person(2), long, person(3)].join("\n") });
    expect([seen.exit, seen.err]).toEqual([3, "a.ndjson:2: not valid JSON\n"]);
    expect((await store.dump()).people).toHaveLength(2);
  });
});

describe("JSON of other layouts", () => {
  const rows = [1, 2, 3].map((id) => ({ id: String(id), email: `p${id}@example.com`, created_at: 1_700_000_000 }));
  test.for([
    ["indented, one after the other", rows.map((row) => JSON.stringify(row, null, 2)).join("\n")],
    ["on one line", rows.map((row) => JSON.stringify(row)).join(" ")],
    ["an array on one line", JSON.stringify(rows)],
    ["an indented array", JSON.stringify(rows, null, 2)],
    ["an array of a row a line", `[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]`],
  ])("when objects are %s, then all come in", async ([, text]) => {
    const seen = await store.import({ "a.json": text ?? "" });
    expect([seen.exit, seen.err]).toEqual([0, ""]);
    expect((await store.dump()).people).toHaveLength(3);
  });
});

describe("files beyond every bound", () => {
  const names = Array.from({ length: 200_000 }, (_, at) => `c${at}`);
  const many = (count: number): string[] => names.slice(0, count);
  test.for([
    ["200,000 columns of a table", `email,score,created_at,${names.join(",")}\n`, "more than 2000 columns"],
    [
      "200,000 columns of an object",
      JSON.stringify(Object.fromEntries(["id", "email", ...names].map((name) => [name, "x"]))),
      "more than 2000 columns",
    ],
    [
      "other columns in each row",
      many(2001)
        .map((name, at) => `{"email":"p${at}@example.com","created_at":1,"${name}":1}\n`)
        .join(""),
      "more than 2000 columns",
    ],
  ] as const)("when there are %s, then one sentence says so", async ([, text, problem]) => {
    const row = text.startsWith("email") ? `a@example.com,9,2026-01-02,${names.map(() => "x").join(",")}\n` : "";
    const seen = await store.import({ "a.csv": text + row });
    expect([seen.exit, seen.error]).toEqual([null, `a.csv: ${problem}`]);
  });

  test.for([
    ["a table", "a.csv.gz", "email,created_at"],
    ["NDJSON", "a.ndjson.gz", person(1)],
  ] as const)("when %s unpacks to blank lines, then it is read no further", async ([, name, first]) => {
    const blank = gzipSync(Buffer.alloc(16 * 1024 * 1024, "\n"), { level: 1 });
    const packed = Buffer.concat([gzipSync(`${first}\n`), ...Array<Buffer>(19).fill(blank)]);
    const seen = await store.import({ [name]: packed });
    expect([seen.exit, seen.error]).toEqual([
      null,
      expect.stringMatching(/^a\.\w+\.gz:1\d{5}: more than 100,000 blank lines end here; remove them$/),
    ]);
  });
});

describe("columns", () => {
  test("when a file is checked, then all that become properties are listed, and what is not kept is counted", async () => {
    const seen = await store.import(
      {
        "a.csv": "Email,Score,Date,Region,Plan,Mail\na@example.com,9,2026-01-02,EMEA,,b@example.com\n",
        "b.ndjson": [
          `{"id":"1","email":"a@example.com","next_survey_scheduled_at":1700000000,"last_responded_at":1}`,
          `{"id":"2","email":"b@example.com","next_survey_scheduled_at":1700000000,"properties_plan":"pro"}`,
          `{"id":"3","email":"c@example.com","next_survey_scheduled_at":null,"shoe":9}`,
        ].join("\n"),
      },
      { check: true, unknown: "properties" },
    );
    expect([seen.exit, seen.err]).toEqual([
      0,
      [
        "a.csv: csv responses",
        "  Email -> email",
        "  Score -> score",
        "  Date -> created_at",
        "  Region -> property Region",
        "  Plan -> property Plan",
        "  Mail -> email",
        "b.ndjson: fivetran people",
        "  id -> id",
        "  email -> email",
        "note: a.csv: columns not kept: Mail (1 row)",
        "note: b.ndjson: columns not kept: next_survey_scheduled_at (2 rows), properties_plan (1 row), shoe (1 row)",
        "Nothing was written.",
        "",
      ].join("\n"),
    ]);
  });
});
