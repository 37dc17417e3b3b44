import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runInProcess, type Finished } from "../../helpers/in-process.ts";

const TEXT =
  'email;name\r\nann@example.com;"Ann\r\nLee"\r\n"ANN@example.com";x\r\n\r\nbob;\r\nbo@example.com;x;y\r\ncid@example.com;"C"';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-explain-"));
  await writeFile(path.join(folder, "people.csv"), TEXT);
});
afterAll(() => rm(folder, { recursive: true }));

function run(file: string, ...flags: string[]): Promise<Finished> {
  return runInProcess({ args: ["people", "import", path.join(folder, file), ...flags], env: { HOME: folder } });
}

it.each([
  [
    "3",
    '2: ann@example.com;"Ann\r\nLee"',
    ["ann@example.com", "Ann\r\nLee"],
    'valid: {"method":"POST","url":"/v1/people.json","body":{"email":"ann@example.com","name":"Ann\\r\\nLee"}}',
  ],
  ["4", '4: "ANN@example.com";x', ["ANN@example.com", "x"], "not sent: duplicate of line 2"],
  ["6", "6: bob;", ["bob", ""], 'invalid: email: "bob" is not an e-mail address: it has no @'],
  [
    "7",
    "7: bo@example.com;x;y",
    ["bo@example.com", "x"],
    "invalid: expected 2 fields, found 3; check delimiters and quotes",
  ],
  [
    "8",
    '8: cid@example.com;"C"',
    ["cid@example.com", "C"],
    'valid: {"method":"POST","url":"/v1/people.json","body":{"email":"cid@example.com","name":"C","delay":3600}}',
  ],
])(
  "--explain %s prints the line as it is, its cells and what becomes of it",
  async (line, text, [email, name], end) => {
    const cells =
      `  email: ${JSON.stringify(email)} -> email (rule: email)\n` +
      `  name: ${JSON.stringify(name)} -> name (rule: text)\n`;
    const stdout = `people.csv:${text}\n${cells}  ${end}\n`;
    expect(await run("people.csv", "--explain", line, "--spread", "2h")).toMatchObject({
      status: 0,
      stdout,
      stderr: "",
    });
  },
);

it("when surveys are to be spread, then a dry run shows the delay of each", async () => {
  const ended = await run("people.csv", "--dry-run", "--skip-invalid", "--delay", "10", "--spread", "2h");
  const bodies = ended.stdout
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as { body: unknown }).body]));
  expect(bodies).toEqual([
    { email: "ann@example.com", name: "Ann\r\nLee", delay: 10 },
    { email: "cid@example.com", name: "C", delay: 3610 },
  ]);
});

it("when responses name people by address and id, then a dry run shows the one that would be used", async () => {
  const file = path.join(folder, "responses.csv");
  await writeFile(file, "person_id,person_email,score\n7,ann@example.com,9\n8,,10\n");
  const { stdout } = await runInProcess({ args: ["responses", "import", file, "--dry-run"], env: { HOME: folder } });
  const bodies = [
    { person: "<id of ann@example.com>", score: 9 },
    { person: "8", score: 10 },
  ];
  const requests = bodies.map(
    (body) => `${JSON.stringify({ method: "POST", url: "/v1/survey_responses.json", body })}\n`,
  );
  expect(stdout).toBe(requests.join(""));
});

it("a bad quote makes its line invalid, and the check goes on at the next", async () => {
  await writeFile(
    path.join(folder, "broken.csv"),
    'email,name\nann@example.com,A "B" C\ndora@example.com,"open\nbob,x\neve@example.com,y\n',
  );
  const { status, stderr } = await run("broken.csv", "--dry-run");
  expect([status, stderr.split("\n").slice(0, 4)]).toEqual([
    2,
    [
      'broken.csv:2: a quote is inside an unquoted field; put the whole field in quotes and write the quote ""',
      'broken.csv:3: a quoted field begins here and is never closed; a quote inside a field is written ""',
      expect.stringMatching(/^broken\.csv:4: email: "bob" /),
      "error: broken.csv: 3 of 4 rows are invalid; nothing was sent",
    ],
  ]);
  const skipped = await run("broken.csv", "--dry-run", "--skip-invalid");
  expect([skipped.status, skipped.stdout]).toEqual([
    0,
    '{"method":"POST","url":"/v1/people.json","body":{"email":"eve@example.com","name":"y"}}\n',
  ]);
});

it("lines in front of a broken one and the broken one are explained", async () => {
  await writeFile(path.join(folder, "broken-later.csv"), 'email\nann@example.com\nb"b\n');
  expect((await run("broken-later.csv", "--explain", "2")).stdout.split("\n")[0]).toBe(
    "broken-later.csv:2: ann@example.com",
  );
  expect((await run("broken-later.csv", "--explain", "3")).stdout).toBe(
    'broken-later.csv:3: b"b\n' +
      '  invalid: a quote is inside an unquoted field; put the whole field in quotes and write the quote ""\n',
  );
});

it("when surveys would fall back or cells would be left out, then each is reported once", async () => {
  await writeFile(
    path.join(folder, "odd.csv"),
    "email,locale,\na@example.com,de-AT,x\nb@example.com,de,\nc@example.com,xx,\nd@example.com,xx,\n",
  );
  const { status, stderr } = await run("odd.csv", "--dry-run", "--property", "locale=german");
  const falls = "is not a supported locale; the survey falls back to en";
  expect([status, stderr]).toEqual([
    0,
    "note: column 3 has no name: ignored\n" +
      `warning: --property: "german" ${falls}\n` +
      `warning: odd.csv:2: locale: "de-AT" ${falls}; did you mean de?\n` +
      `warning: odd.csv:4: locale: "xx" ${falls} (2 rows)\n` +
      "note: 4 rows: 4 emails, 0 text messages, 0 with no survey, 0 skipped; 3 requests shown, nothing was sent\n",
  ]);
});
