import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServe, type Served } from "../../helpers/serve.ts";

let from: Served;
let to: Served;

beforeAll(async () => {
  [from, to] = await Promise.all([startServe(), startServe()]);
  // Ids mean different people on the two services.
  await to.run(["people", "add", "--email", "first@example.com", "--no-send"]);
});

afterAll(async () => {
  await Promise.all([from.stop(), to.stop()]);
});

const ANSWERS = `person_email,name,score,comment,created_at,plan,note
ann@example.com,Ann,10,"Fine, ""really"" fine",2026-01-02T03:04:05Z,pro,=SUM(A1)
bob@example.com,Bob,3,"two
lines",1767225600,free,+1 good
ann@example.com,Ann,7,,2026-02-02,,
`;
const COLUMNS = "person_email,person_name,score,comment,created_at,person_properties";

async function run(service: Served, args: readonly string[]): Promise<string> {
  const ended = await service.run(args, { cwd: from.folder });
  if (ended.status !== 0) throw new Error(`${args.join(" ")} ended with ${ended.status}: ${ended.stderr}`);
  return ended.stdout;
}

test("when responses are exported and imported elsewhere, then the same people said the same", async () => {
  await writeFile(path.join(from.folder, "answers.csv"), ANSWERS);
  await run(from, ["responses", "import", "answers.csv"]);
  await run(from, ["responses", "export", "--excel", "--out", "exported.csv"]);
  await run(to, ["responses", "import", "exported.csv"]);
  const before = await run(from, ["responses", "export", "--columns", COLUMNS]);
  expect(await run(to, ["responses", "export", "--columns", COLUMNS])).toBe(before);
  expect(before.split("\n")[1]).toBe(`bob@example.com,Bob,3,"two`);
});

test("when people are exported and imported elsewhere, then they are the same people", async () => {
  await run(from, ["people", "add", "--phone", "+14155550101", "--name", "Cy", "--no-send"]);
  await run(from, ["people", "export", "--excel", "--out", "people.csv"]);
  await run(to, ["people", "import", "people.csv", "--no-send"]);
  const known = await run(from, ["people", "export", "--columns", "email,name,phone_number"]);
  const [head = "", ...rows] = known.split("\n");
  const there = await run(to, ["people", "export", "--columns", "email,name,phone_number"]);
  expect(there.split("\n").toSorted()).toEqual([head, "first@example.com,,", ...rows].toSorted());
});

const PROPERTIES = {
  seats: 5,
  list: [1, { deep: true }],
  "a.b": "x",
  "Plan ": "trailing space",
  " lead": "1",
  Locale: "de",
  formula: "=1+1",
  guarded: "'=1",
  yes: true,
  text: "5",
  big: "12345678901234567890",
};

test.each([[[]], [["--excel"]]])(
  "when flattened columns are imported elsewhere, then properties are what they were: %j",
  async (flags) => {
    const quoted = JSON.stringify(PROPERTIES).replaceAll('"', '""');
    const email = `flat${flags.length}@example.com`;
    await writeFile(path.join(from.folder, "flat.csv"), `email,score,person_properties\n${email},9,"${quoted}"\n`);
    await run(from, ["responses", "import", "flat.csv", "--results", `flat${flags.length}.results.csv`]);
    await run(from, ["responses", "export", "--flatten", ...flags, "--out", "flattened.csv"]);
    const results = `flattened${flags.length}.results.csv`;
    await run(to, ["responses", "import", "flattened.csv", "--results", results]);
    const rows = await run(to, ["responses", "export", "-o", "ndjson", "--columns", "person_email,person_properties"]);
    const mine = rows.split("\n").filter((row) => row.includes(email));
    expect(mine.map((row) => (JSON.parse(row) as { person_properties: unknown }).person_properties)).toEqual([
      PROPERTIES,
    ]);
  },
);

test("when machines read, then exports and imports write only JSON lines to stderr", async () => {
  await writeFile(path.join(from.folder, "people.csv"), "email,emial,send\nz@example.com,x,no\nz@example.com,x,no\n");
  await writeFile(path.join(from.folder, "bad.csv"), "email,send\nnobody,no\n");
  const lines = [
    ["responses", "export", "-o", "ndjson", "--out", "rows.ndjson"],
    ["people", "export", "-o", "json", "-v"],
    ["people", "import", "people.csv", "-o", "json", "--dry-run"],
    ["people", "import", "people.csv", "-o", "ndjson"],
    ["people", "import", "people.csv", "-o", "ndjson"],
    ["people", "import", "bad.csv", "-o", "json"],
    ["people", "import", "bad.csv", "-o", "json", "--skip-invalid", "--allow-empty"],
  ];
  const statuses: (number | null)[] = [];
  for (const args of lines) {
    const { status, stderr } = await from.run(args, { cwd: from.folder });
    statuses.push(status);
    expect(stderr).not.toBe("");
    for (const line of stderr.trim().split("\n")) expect(Object.keys(JSON.parse(line) as object)).toHaveLength(1);
  }
  expect(statuses).toEqual([0, 0, 0, 0, 0, 2, 2]);
});
