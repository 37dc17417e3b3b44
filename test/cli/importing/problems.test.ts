import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runInProcess, type Finished } from "../../helpers/in-process.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-problems-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function dryRun(command: string, text: string, ...flags: string[]): Promise<Finished> {
  const file = path.join(folder, "in.csv");
  await writeFile(file, text);
  return runInProcess({ args: [...command.split(" "), file, "--dry-run", ...flags], env: { HOME: folder } });
}

const bodiesOf = ({ stdout }: Finished): unknown[] =>
  stdout.split("\n").flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as { body: unknown }).body]));

const notesOfRows = ({ stderr }: Finished): string[] =>
  stderr.split("\n").filter((line) => line.startsWith("note: in.csv:"));

const MESSY = `email,phone,Full Name\n${["ann@example.com,,A", ",,B", ",,C", "x,,D", ",,E", "bob@example.com,,F", ",,G"].join("\n")}\n`;

it("when rows have the same problem, then they share a line, and the hint maps what is nearly a column", async () => {
  const { status, stderr } = await dryRun("people import", MESSY);
  expect([status, stderr]).toEqual([
    2,
    'note: "Full Name" will be imported as a property; to map it: --map "Full Name=name"\n' +
      "in.csv: lines 3–4, 6, 8 (4 rows): no email or phone number\n" +
      'in.csv:5: email: "x" is not an e-mail address: it has no @\n' +
      "error: in.csv: 5 of 7 rows are invalid; nothing was sent\n" +
      'hint: fix them, or pass --skip-invalid to skip them\n      or map the columns: --map "Full Name=name"\n',
  ]);
});

it("when a row would lose values, since it changes an address and sends no survey, then they are named", async () => {
  const rows = ["a@x.co,b@x.co,Ann,pro", "c@x.co,d@x.co,,", "e@x.co,,Eve,pro"];
  const text = `email,email_update,name,plan\n${rows.join("\n")}\n`;
  const { status, stderr } = await dryRun("people import", text, "--no-send");
  const lost = "is not saved by a row with email_update and without a survey; use another file for it";
  expect([status, stderr.split("\n").slice(0, 2)]).toEqual([2, [`in.csv:2: name: ${lost}`, `in.csv:2: plan: ${lost}`]]);
  const sent = await dryRun("people import", text, "--send");
  expect([sent.status, bodiesOf(sent).length]).toEqual([0, 3]);
  const common = await dryRun("people import", "phone,phone_number_update\n+14155550101,+14155550102\n", "--no-send");
  expect(common.status).toBe(0);
});

it.each([
  ["email_update", "phone_number", "email,email_update,phone", ["a@x.co,b@x.co,+14155550101", "c@x.co,d@x.co,"]],
  ["phone_number_update", "email", "phone,phone_number_update,email", ["+14155550101,+14155550102,a@x.co"]],
])(
  "when a row with %s and no survey names its person by another value too, then a note says that it is not saved",
  async (update, column, header, rows) => {
    const text = `${header}\n${rows.join("\n")}\n`;
    const quiet = await dryRun("people import", text, "--no-send");
    const unsaved = `is not saved by a row with ${update} and without a survey; use another file for a new one`;
    expect([quiet.status, notesOfRows(quiet)]).toEqual([0, [`note: in.csv:2: ${column}: ${unsaved}`]]);
    expect(notesOfRows(await dryRun("people import", text, "--send"))).toEqual([]);
  },
);

it("when there are more kinds of problems than are listed, then the rest is counted", async () => {
  const { stderr } = await dryRun("people import", MESSY, "--max-errors", "1", "--ignore-column", "Full Name");
  expect(stderr.split("\n").slice(0, 2)).toEqual([
    "in.csv: lines 3–4, 6, 8 (4 rows): no email or phone number",
    "… and 1 more (use --max-errors N)",
  ]);
});

it.each([
  ["plan", "plan", "property plan", "rename one of them in the file"],
  ["Name", "name", "name", "rename one of them in the file"],
  ["plan", "properties.plan", "property plan", 'ignore one of them: --ignore-column "properties.plan"'],
])(
  "when the columns %s and %s mean the same, then the advice keeps one of them",
  async (one, other, meaning, advice) => {
    expect(await dryRun("people import", `email,${one},${other}\na@example.com,A,B\n`, "--send")).toMatchObject({
      status: 2,
      stdout: "",
      stderr: `error: in.csv:1: the columns "${one}" and "${other}" both mean ${meaning}\nhint: ${advice}\n`,
    });
  },
);

it("when JSON is asked for, then stderr holds JSON lines only, and the problems are details of the error", async () => {
  const { stderr } = await dryRun("people import", MESSY, "--json");
  const lines = stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { error?: { details: unknown } });
  expect(lines.at(-1)?.error?.details).toEqual([
    {
      file: "in.csv",
      line: 3,
      lines: [
        [3, 4],
        [6, 6],
        [8, 8],
      ],
      rows: 4,
      column: null,
      message: "no email or phone number",
    },
    {
      file: "in.csv",
      line: 5,
      lines: [[5, 5]],
      rows: 1,
      column: "email",
      message: '"x" is not an e-mail address: it has no @',
    },
  ]);
});

const MANY = Array.from({ length: 22 }, (_, index) => `word ${index}`).join("\n");

it.each([
  [
    "swallows rows up to the next quote",
    'email,name\na@example.com,"Ann\nb@example.com,Bob\nc@example.com,"\n',
    2,
    "name",
    2,
  ],
  ["goes on and on", `email,name\na@example.com,Ann\nb@example.com,"${MANY}"\n`, 3, "name", 21],
  ["begins below another cell of two lines", `email,name,note\na@example.com,"A\nB","${MANY}"\n`, 3, "note", 21],
])("when a cell %s, then a quote is probably missing", async (_, text, line, column, ends) => {
  const { stderr } = await dryRun("people import", text, "--skip-invalid");
  expect(stderr).toContain(
    `warning: in.csv: line ${line}: a quote is probably missing; column "${column}" contains ${ends} line ends\n`,
  );
});

it("when people write several lines with commas, then no quote is missed", async () => {
  const text = 'email,comment\na@example.com,"Well, yes\nno, not really\nask me, please"\n';
  expect((await dryRun("people import", text)).stderr).not.toContain("quote");
});

const cell = (number: string): string => `email,properties\nann@example.com,"{""n"":${number}}"\n`;

it("when a JSON cell holds a number that would lose digits, then it is refused", async () => {
  const refused = await dryRun("people import", cell("12345678901234567890"));
  expect([refused.status, refused.stderr.split("\n")[0]]).toEqual([
    2,
    "in.csv:2: properties: 12345678901234567890 has more digits than a JSON number keeps; write it in quotes, as text",
  ]);
  for (const fine of ["9007199254740992", '""12345678901234567890""', "1.5"])
    expect((await dryRun("people import", cell(fine))).status).toBe(0);
});

it("when columns were flattened, then they come back as what they were", async () => {
  const map = '"{""n"":5,""tags"":[""a"",""b""],""yes"":true,""text"":""5"",""edited"":1}"';
  const flat = '5,"[""a"",""b""]",true,5,2,x';
  const header =
    "person_id,score,person_properties,person_properties.n,person_properties.tags,person_properties.yes," +
    "person_properties.text,person_properties.edited,additional_answers.q1";
  const ended = await dryRun("responses import", `${header}\n7,9,${map},${flat}\n`);
  expect(bodiesOf(ended)).toEqual([
    { person: "7", score: 9, person_properties: { n: 5, tags: ["a", "b"], yes: true, text: "5", edited: "2" } },
  ]);
  expect(ended.stderr.split("\n")[0]).toBe("note: ignored additional_answers.q1: only the service sets it");
});

it("when an export holds other survey types, then their scores do not become NPS answers", async () => {
  const text = "person_id,survey_type,score\n7,nps,9\n8,csat,5\n9,,3\n";
  const refused = await dryRun("responses import", text);
  expect([refused.status, refused.stdout, refused.stderr.split("\n")[0]]).toEqual([
    2,
    "",
    'in.csv:3: survey_type: "csat" is not nps; its score would count in the NPS',
  ]);
  expect(bodiesOf(await dryRun("responses import", text, "--skip-invalid"))).toEqual([
    { person: "7", score: 9 },
    { person: "9", score: 3 },
  ]);
});

it("when cells were guarded for a spreadsheet, then the guard is taken away and counted", async () => {
  const ended = await dryRun("people import", `email,a,b,c,d\nann@example.com,'=1,''=1,'x,="05"\n`);
  const properties = { a: "=1", b: "'=1", c: "'x", d: "05" };
  expect(bodiesOf(ended)).toEqual([{ email: "ann@example.com", properties }]);
  expect(ended.stderr.split("\n").slice(0, 2)).toEqual([
    "note: 2 cells lost a leading ' that guarded them in a spreadsheet",
    'note: 1 cell is ="…": read as the text in quotes',
  ]);
});

it("values that a spreadsheet or a conversion lost are invalid", async () => {
  const rows = ["a@x.co,#N/A,", "b@x.co,Zo\ufffd,", "c@x.co,,#REF!", "#VALUE!,,", "d@x.co,#1 fan,#WOW!"];
  const { status, stderr } = await dryRun(
    "people import",
    `email,First,plan\n${rows.join("\n")}\n`,
    "--map",
    "First=name",
  );
  expect([status, stderr.split("\n").slice(0, 5)]).toEqual([
    2,
    [
      'in.csv:2: First: "#N/A" is an error of a spreadsheet\'s formula',
      'in.csv:3: First: "Zo\ufffd" contains U+FFFD in place of a character that was lost',
      'in.csv:4: plan: "#REF!" is an error of a spreadsheet\'s formula',
      'in.csv:5: email: "#VALUE!" is an error of a spreadsheet\'s formula',
      "error: in.csv: 4 of 5 rows are invalid; nothing was sent",
    ],
  ]);
});

it("values that stand for nothing and bare domains are warned about", async () => {
  const rows = ["a@x.co,NULL,nan,N/A", "b@x.co,NULL,none,", "c@example,null and void,,", "nobody@nowhere,Ann,,"];
  const ended = await dryRun("people import", `email,name,plan,locale\n${rows.join("\n")}\n`, "--no-send");
  expect([ended.status, ended.stderr.split("\n").filter((line) => /imported as text|a dot/.test(line))]).toEqual([
    0,
    [
      'warning: in.csv: lines 2–3 (2 rows): name: "NULL" is imported as text',
      'warning: in.csv:2: plan: "nan" is imported as text',
      'warning: in.csv:2: locale: "N/A" is imported as text',
      'warning: in.csv:4: email: "c@example" has a domain without a dot',
      'warning: in.csv:5: email: "nobody@nowhere" has a domain without a dot',
    ],
  ]);
});

it("when two addresses are one after normalization, then they are duplicates", async () => {
  const ended = await dryRun("people import", "email\nann@b\u00fccher.de\nann@xn--bcher-kva.de\n");
  expect([bodiesOf(ended), ended.stderr.split("\n")[0]]).toEqual([
    [{ email: "ann@b\u00fccher.de" }],
    "warning: 1 duplicate row (same person); the first occurrence is kept",
  ]);
});

it.each([
  ["has no header", "ann@example.com,Ann\n", [], "there is no header; the first line holds data (ann@example.com)"],
  [
    "is mapped to a mistyped name",
    "mail\nx\n",
    ["--map", "mail=emial"],
    'hint: "emial" is not a known column; did you mean email?',
  ],
  [
    "has near columns",
    "E-Mail Address,Full Name\nx@y.co,y\n",
    [],
    'hint: map the columns: --map "E-Mail Address=email" --map "Full Name=name"',
  ],
])("when the file %s, then it says what to do", async (_, text, flags, expected) => {
  const { status, stderr } = await dryRun("people import", text, ...flags);
  expect([status, stderr]).toEqual([2, expect.stringContaining(expected)]);
});

const GOOGLE =
  "Name,E-mail 1 - Label,E-mail 1 - Value,E-mail 2 - Value,Phone 1 - Label,Phone 1 - Value,Email Status\n" +
  "Ann,* Work,ann@example.com,ann2@example.com,Mobile,+14155550100,ok\nBob,Home,bob@example.com,,,,ok\n";

it("columns are proposed only if their cells suit the field, and other addresses are named", async () => {
  const { stderr } = await dryRun("people import", GOOGLE);
  const maps = '--map "E-mail 1 - Value=email" --map "Phone 1 - Value=phone_number"';
  expect(stderr.split("\n").at(-2)).toBe(`hint: map the columns: ${maps}`);
  const mapped = await dryRun("people import", GOOGLE, "--map", "E-mail 1 - Value=email");
  expect([mapped.status, mapped.stderr.split("\n").slice(0, 2)]).toEqual([
    0,
    [
      'note: "E-mail 2 - Value" looks like another email; it is imported as a property',
      'note: "Phone 1 - Value" will be imported as a property; to map it: --map "Phone 1 - Value=phone_number"',
    ],
  ]);
});

it("a header with characters of the shell is quoted for it", async () => {
  const { stderr } = await dryRun("people import", "Your $HOME e-mail\nann@example.com\n");
  expect(stderr).toContain("hint: map the columns: --map 'Your $HOME e-mail=email'\n");
});

it.each([
  ["Contacts export,,\n\n2026-01-31\nE-mail,Name,Plan\nann@example.com,Ann,pro\n", 4],
  ["Contacts\nemail\nann@example.com\n", 2],
  ["Contacts\nE-mail address,Name\nann@example.com,Ann\n", 2],
])("the line that looks like the header is named", async (text, line) => {
  const { status, stderr } = await dryRun("responses import", text);
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(
      new RegExp(
        `^error: in\\.csv:1: no .* column \\(found: Contacts(?: export)?\\); line ${line} looks like the header\nhint: remove the lines above line ${line}\n$`,
      ),
    ),
  ]);
});

it("a row is not taken for the header", async () => {
  const { stderr } = await dryRun("people import", "Kontakt,Kanal\nann@example.com,email\n");
  expect(stderr).toBe("error: in.csv:1: no email or phone_number column (found: Kontakt, Kanal)\n");
});

it("when control characters are in the file, then none reaches the screen", async () => {
  const { stderr } = await dryRun(
    "people import",
    "email,locale\nx\u001b[31m,\u009bde\nann@example.com,\u001b]0;x\n",
    "--skip-invalid",
  );
  expect(stderr.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
});
