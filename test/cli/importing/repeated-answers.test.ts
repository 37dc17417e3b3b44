import { appendFile, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withoutUndo } from "../../helpers/imported.ts";
import { runInProcess } from "../../helpers/in-process.ts";
import { startServe, type Served } from "../../helpers/serve.ts";

let service: Served;
beforeEach(async () => {
  service = await startServe();
});
afterEach(() => service.stop());

const HEADER = "email,score,comment,created_at";
const ROWS = [
  'a@example.com,9,"two\nlines",2026-10-01',
  "a@example.com,8,,2026-10-02",
  "b@example.com,7,by mail,2026-10-03",
];
const HISTORY = toText(ROWS);

function toText(rows: readonly string[]): string {
  return [HEADER, ...rows].map((row) => `${row}\n`).join("");
}

async function fileOf(name: string, text: string): Promise<string> {
  const file = path.join(service.folder, name);
  await writeFile(file, text);
  return file;
}

async function load(file: string, ...flags: string[]): Promise<readonly [number | null, string]> {
  const { status, stderr } = await service.run(["responses", "import", file, "--yes", ...flags]);
  return [status, stderr.split(" in ")[0] ?? ""];
}

async function scores(): Promise<string> {
  const { stdout } = await service.run(["responses", "list", "--all", "--columns", "score", "-o", "tsv"]);
  return stdout.trim().split("\n").toSorted().join(" ");
}

async function outcomes(results: string): Promise<string[]> {
  const [, ...rows] = (await readFile(results, "utf8")).trim().split("\n");
  return rows.map((row) =>
    withoutUndo(row)
      .replace(/^(\d+),[^,]*,(\w+),[^,]*,[^,]*,/, "$1 $2 ")
      .trim(),
  );
}

test("only the new rows of a file that has grown are added, and the record keeps the others", async () => {
  const file = await fileOf("history.csv", HISTORY);
  expect(await load(file)).toEqual([0, "3 saved"]);
  await appendFile(file, "c@example.com,6,,2026-10-04\n");
  expect(await load(file)).toEqual([0, "1 saved now, 3 earlier"]);
  const rows = ["d@example.com,5,,2026-10-05", "c@example.com,6,,2026-10-04", ...ROWS.toReversed()];
  await writeFile(file, toText(rows).replaceAll("\n", "\r\n"));
  expect([await load(file), await scores()]).toEqual([[0, "1 saved now, 4 earlier"], "5 6 7 8 9"]);
  expect(await outcomes(`${file}.responses-import.results.csv`)).toEqual(
    [2, 3, 4, 5, 6].map((line) => `${line} saved`),
  );
  const [status, note] = await load(file);
  expect([status, note]).toEqual([0, expect.stringContaining("is as it was imported, nothing was sent")]);
});

test("a response that was deleted or corrected at the service doesn't come back with a file that has grown", async () => {
  const file = await fileOf("history.csv", HISTORY);
  await load(file);
  const ids = (await service.run(["responses", "list", "--all", "--columns", "id", "-o", "tsv"])).stdout
    .trim()
    .split("\n");
  await service.run(["responses", "delete", ids[0] ?? "", "--yes"]);
  await service.run(["responses", "update", ids[1] ?? "", "--score", "1"]);
  await writeFile(file, toText(["c@example.com,6,,2026-10-04", ...ROWS]));
  expect([await load(file), await scores()]).toEqual([[0, "1 saved now, 3 earlier"], "1 6 7"]);
});

test.each([
  ["under another name", "other.csv", []],
  ["with other results", "history.csv", ["--results", "other-results.csv"]],
])("responses that the service has are skipped %s", async (_, name, flags) => {
  await load(await fileOf("history.csv", HISTORY));
  const text = HISTORY.replace("two\n", "two\r\n").replace("a@example.com,8", "A@Example.com,8");
  const file = await fileOf(name, `${text}a@example.com,8,,2026-10-03\n`);
  const inFolder = flags.map((flag) => (flag.endsWith(".csv") ? path.join(service.folder, flag) : flag));
  expect([await load(file, ...inFolder), await scores()]).toEqual([[0, "1 saved, 3 skipped"], "7 8 8 9"]);
  expect(await outcomes(inFolder[1] ?? `${file}.responses-import.results.csv`)).toEqual([
    expect.stringMatching(/^2 skipped stored already \(response \d+\)$/),
    expect.stringMatching(/^4 skipped stored already \(response \d+\)$/),
    expect.stringMatching(/^5 skipped stored already \(response \d+\)$/),
    "6 saved",
  ]);
});

test("without a journal responses are known by the service", async () => {
  const file = await fileOf("history.csv", HISTORY);
  await load(file);
  await rm(`${file}.responses-import.results.csv.journal`);
  await rm(`${file}.responses-import.results.csv`);
  expect([await load(file), await scores()]).toEqual([[0, "3 skipped"], "7 8 9"]);
});

test("rows without a time are told to be unrecognisable, in the dry run and in the plan", async () => {
  const file = await fileOf("untimed.csv", "email,score,created_at\na@example.com,9,\nb@example.com,8,2026-10-01\n");
  const warning = "1 row has no created_at: if imported again, repeats can't be recognised by the service";
  const args = ["responses", "import", file];
  expect((await service.run([...args, "--dry-run"])).stderr).toContain(`warning: ${warning}\n`);
  const env = { ...service.env, HOME: service.folder };
  const { stderr } = await runInProcess({ args, env, stdin: "n\n", columns: 120 });
  expect(stderr).toContain(`Warning         ${warning}`);
});

test("a plan that is declined leaves the record of the earlier version", async () => {
  const file = await fileOf("history.csv", HISTORY);
  await load(file);
  const journal = `${file}.responses-import.results.csv.journal`;
  const before = await readFile(journal, "utf8");
  await appendFile(file, "c@example.com,6,,2026-10-04\n");
  const env = { ...service.env, HOME: service.folder };
  const args = ["responses", "import", file];
  const { status, stderr } = await runInProcess({ args, env, stdin: "n\n", columns: 120 });
  expect([status, stderr.includes("Already done    3")]).toEqual([2, true]);
  expect(await readFile(journal, "utf8")).toBe(before);
});
