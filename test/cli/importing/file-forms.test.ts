import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it, test } from "vitest";
import { type Served, startServe } from "../../helpers/serve.ts";

let service: Served;
beforeAll(async () => {
  service = await startServe();
});
afterAll(() => service.stop());

async function fileOf(name: string, bytes: string | Uint8Array): Promise<string> {
  const file = path.join(service.folder, name);
  await writeFile(file, bytes);
  return file;
}

async function bodies(file: string, ...flags: string[]): Promise<unknown[]> {
  const { status, stdout, stderr } = await service.run(["people", "import", file, "--no-send", "--dry-run", ...flags]);
  if (status !== 0) throw new Error(stderr);
  return stdout
    .trim()
    .split("\n")
    .map((line) => {
      const { send: _, ...body } = (JSON.parse(line) as { body: Record<string, unknown> }).body;
      return body;
    });
}

const ZOE = { email: "zoe@example.com", name: "Zoë – “Z”" };
const TEXT = "email;name\r\nzoe@example.com;Zoë – “Z”\r\n";
const wide = Buffer.from(TEXT, "utf16le");
const windows = Buffer.from("email;name\r\nzoe@example.com;Zo\xeb \x96 \x93Z\x94\r\n", "latin1");

it.each([
  ["windows-1252", windows],
  ["cp1252", windows],
  ["utf-16", wide],
  ["UTF-16", Buffer.from(wide).swap16()],
  ["utf-16le", wide],
  ["utf-16be", Buffer.from(wide).swap16()],
  ["utf-16", Buffer.from(`\ufeff${TEXT}`, "utf16le")],
  ["utf-8", Buffer.from(TEXT)],
])("when the file is in %s and --encoding says so, then its text is read", async (encoding, bytes) => {
  expect(await bodies(await fileOf("encoded.csv", bytes), "--encoding", encoding)).toEqual([ZOE]);
});

it.each([
  [
    "windows-1252",
    Buffer.from("email\nzo\x81@example.com\n", "latin1"),
    "encoded.csv:2: WINDOWS-1252 that is broken near byte 8",
  ],
  [
    "shift_jis",
    Buffer.from("email\nok@example.com\n\xfd\n", "latin1"),
    "encoded.csv:3: SHIFT_JIS that is broken near byte 21",
  ],
  ["windows-9999", Buffer.from(TEXT), '--encoding: "windows-9999" is not an encoding that is known'],
])("when the bytes are no %s, then the line is named and nothing is sent", async (encoding, bytes, words) => {
  const file = await fileOf("encoded.csv", bytes);
  const { status, stderr } = await service.run(["people", "import", file, "--no-send", "--encoding", encoding]);
  expect([status, stderr.split("\n")[0]]).toEqual([2, expect.stringContaining(words)]);
});

test("when the encoding can be guessed, then the flag is named that reads it", async () => {
  const { stderr } = await service.run(["people", "import", await fileOf("encoded.csv", windows), "--no-send"]);
  expect(stderr).toBe(
    [
      "error: encoded.csv:2: the text is neither UTF-8 nor UTF-16 with a byte order mark (byte 0xeb, as in WINDOWS-1252)",
      'hint: save the file as "CSV UTF-8", or pass --encoding windows-1252\n',
    ].join("\n"),
  );
});

test("when a line of Excel tells the delimiter, then it is no header, and lines keep their numbers", async () => {
  const file = await fileOf("excel.csv", "sep=;\r\nemail;name\r\nann@example.com;Lee, Ann\r\n");
  expect(await bodies(file)).toEqual([{ email: "ann@example.com", name: "Lee, Ann" }]);
  const broken = await fileOf("excel.csv", "\ufeffsep=|\nemail|name\nann|x\n");
  const { stderr } = await service.run(["people", "import", broken, "--no-send"]);
  expect(stderr).toMatch(/^excel\.csv:3: email: "ann" is not an e-mail address/m);
});

test("when first and last name are two columns, then a mapping joins them", async () => {
  const file = await fileOf(
    "names.csv",
    "First name,Email,Last name\n Ann ,ann@example.com, Lee\n,bob@example.com,Day\n",
  );
  expect(await bodies(file, "--map", "First name+Last name=name")).toEqual([
    { email: "ann@example.com", name: "Ann Lee" },
    { email: "bob@example.com", name: "Day" },
  ]);
  const { stderr } = await service.run(["people", "import", file, "--no-send", "--dry-run"]);
  expect(stderr.split("\n")[0]).toBe(
    'note: "First name" and "Last name" will be imported as properties; to map them: --map "First name+Last name=name"',
  );
  const wrong = await service.run(["people", "import", file, "--no-send", "--map", "First name+Surname=name"]);
  expect([wrong.status, wrong.stderr.split("\n")[0]]).toEqual([
    2,
    'error: names.csv:1: cannot map column "Surname": the columns are First name, Email, Last name',
  ]);
  const phone = await service.run([
    "people",
    "import",
    file,
    "--no-send",
    "--map",
    "First name+Last name=phone_number",
  ]);
  expect([phone.status, phone.stderr.split("\n")[0]]).toEqual([
    2,
    'error: names.csv:1: columns can be joined into name alone, not into "phone_number"',
  ]);
});

test("when a header has a + of its own, then that column is meant", async () => {
  const file = await fileOf("plus.csv", "email,First+Last\nann@example.com,Ann Lee\n");
  expect(await bodies(file, "--map", "First+Last=name")).toEqual([{ email: "ann@example.com", name: "Ann Lee" }]);
});

test("when cells have white space around them, then it is taken off; comments keep theirs", async () => {
  const file = await fileOf("space.csv", "email,name,plan\n ann@example.com , Ann\u00a0,\tpro \n");
  expect(await bodies(file)).toEqual([{ email: "ann@example.com", name: "Ann", properties: { plan: "pro" } }]);
  const responses = await fileOf("answers.csv", "email,score,comment\nann@example.com,9, Great \n");
  const { stdout } = await service.run(["responses", "import", responses, "--dry-run"]);
  expect(stdout).toContain('"comment":" Great "');
});

test("when a sample is sent, then it is that share of the rows, and the same ones each time", async () => {
  const rows = Array.from({ length: 200 }, (_, index) => `p${index}@example.com`);
  const file = await fileOf("many.csv", `email\n${rows.join("\n")}\np1@example.com\n`);
  const sampled = async (name: string, ...flags: string[]): Promise<string[]> => {
    const results = path.join(service.folder, name);
    const args = ["people", "import", file, "--no-send", "--sample", "10%", "--results", results, ...flags];
    expect((await service.run(args)).status).toBe(0);
    const lines = (await readFile(results, "utf8")).split("\n").filter((line) => line.includes(",saved,"));
    return lines.map((line) => line.split(",")[1] ?? "");
  };
  const first = await sampled("first.csv");
  expect(first).toHaveLength(20);
  expect(new Set(first.map((email) => Math.floor(rows.indexOf(email) / 50))).size).toBeGreaterThan(2);
  expect(await sampled("second.csv", "--on-duplicate", "first")).toEqual(first);
  const { stderr } = await service.run(["people", "import", file, "--send", "--sample", "2.5%", "--dry-run"]);
  expect(stderr).toContain(
    "note: 201 rows: 5 emails, 0 text messages, 0 with no survey, 196 skipped; 3 requests shown, nothing was sent\n",
  );
  const wrong = await service.run(["people", "import", file, "--send", "--sample", "10"]);
  expect([wrong.status, wrong.stderr]).toEqual([2, 'error: --sample: "10" is not a share such as 10% or 2.5%\n']);
});

const row = { email: "ann@example.com", name: "'=Ann", plan: "pro", seats: 5, tags: ["a"], vip: true, note: null };
const ANN = { email: "ann@example.com", name: "'=Ann", properties: { plan: "pro", seats: 5, tags: ["a"], vip: true } };

test.each([
  ["rows.csv.gz", gzipSync("email,name\nann@example.com,''=Ann\n"), { email: "ann@example.com", name: "'=Ann" }],
  ["rows.ndjson", Buffer.from(`${JSON.stringify(row)}\n`), ANN],
  ["rows.ndjson.gz", gzipSync(`${JSON.stringify(row)}\n`), ANN],
  ["rows.json", Buffer.from(JSON.stringify([row], null, 2)), ANN],
])("%s is read, and values of JSON stay what they are", async (name, bytes, body) => {
  expect(await bodies(await fileOf(name, bytes))).toEqual([body]);
});

test("a JSON file is checked like a table, and may be sent and resumed", async () => {
  const lines = ['{"email":"ann@example.com"}', '{"email":"bob@example.com"', '{"phone_number":14155550100}', "7"];
  const file = await fileOf("bad.ndjson", `${lines.join("\n")}\n`);
  const { status, stderr } = await service.run(["people", "import", file, "--no-send"]);
  expect([status, stderr.split("\n").slice(0, 4)]).toEqual([
    2,
    [
      "bad.ndjson:2: not valid JSON",
      expect.stringMatching(/^bad\.ndjson:3: phone_number: "14155550100" is not E\.164/),
      "bad.ndjson:4: expected an object",
      "error: bad.ndjson: 3 of 4 rows are invalid; nothing was sent",
    ],
  ]);
  const sent = await service.run(["people", "import", file, "--no-send", "--skip-invalid"]);
  expect(sent.stderr).toContain("1 saved, 3 skipped in ");
});

test("an export of responses as NDJSON is imported", async () => {
  const add = ["responses", "add", "--email", "ann@example.com", "--score", "9", "--comment", "=1"];
  await service.run([...add, "--property", "plan=pro"]);
  const file = path.join(service.folder, "exported.ndjson");
  await service.run(["responses", "export", "--expand", "person", "-o", "ndjson", "--out", file]);
  const { stdout, stderr } = await service.run(["responses", "import", file, "--dry-run"]);
  expect([stdout, JSON.parse(stdout)]).toMatchObject([
    expect.stringContaining("<id of ann@example.com>"),
    { body: { score: 9, comment: "=1", person_properties: { plan: "pro" } } },
  ]);
  expect(stderr).not.toContain("lost a leading");
});

test("numbers of many digits keep them", async () => {
  const file = await fileOf("long.ndjson", '{"person_id":12345678901234567890,"score":9}\n');
  const { stdout } = await service.run(["responses", "import", file, "--dry-run"]);
  expect(stdout).toContain('"person":"12345678901234567890"');
});

test("what a spreadsheet leaves of emptied cells is no row and no fault", async () => {
  const file = await fileOf(
    "left.csv",
    ",,\nemail,name,plan,\n,,,\na@example.com,A\n ,\t,,\nb@example.com,B,pro,,,\n,\n",
  );
  expect(await bodies(file)).toEqual([
    { email: "a@example.com", name: "A" },
    { email: "b@example.com", name: "B", properties: { plan: "pro" } },
  ]);
  const { stderr } = await service.run(["people", "import", file, "--no-send"]);
  expect(stderr.split("\n").slice(0, 4)).toEqual([
    "note: column 4 has no name: ignored",
    "note: 3 rows have empty cells only: skipped",
    "note: 2 rows are shorter or longer than the header: missing cells count as empty, empty extra cells are ignored",
    expect.stringMatching(/^2 saved in /),
  ]);
});

test("headers are read as people see them", async () => {
  const file = await fileOf("odd.csv", '\u200bE\u00admail,"Full\u00a0\n Name",="Plan"\nann@example.com,Ann,pro\n');
  const maps = ["--map", "full name=name", "--map", "Em\u2060ail=email"];
  expect(await bodies(file, ...maps)).toEqual([{ email: "ann@example.com", name: "Ann", properties: { Plan: "pro" } }]);
  const { stderr } = await service.run(["people", "import", file, "--no-send", "--dry-run"]);
  expect(stderr).toContain(
    'note: the header "Email" has an invisible character, U+200B (zero width space), at position 1: removed\n',
  );
});
