import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServe, type Served } from "../../helpers/serve.ts";

let from: Served;
let to: Served;

beforeAll(async () => {
  [from, to] = await Promise.all([startServe(), startServe()]);
  // The other service knows somebody already: ids mean different people there.
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
  await run(from, ["responses", "export", "--excel-safe", "--bom", "--crlf", "--out", "exported.csv"]);
  await run(to, ["responses", "import", "exported.csv"]);
  const before = await run(from, ["responses", "export", "--columns", COLUMNS]);
  expect(await run(to, ["responses", "export", "--columns", COLUMNS])).toBe(before);
  expect(before.split("\n")[1]).toBe(`bob@example.com,Bob,3,"two`);
});

test("when people are exported and imported elsewhere, then they are the same people", async () => {
  await run(from, ["people", "add", "--phone", "+14155550101", "--name", "Cy", "--no-send"]);
  await run(from, ["people", "export", "--excel-safe", "--out", "people.csv"]);
  await run(to, ["people", "import", "people.csv", "--no-send"]);
  const known = await run(from, ["people", "export", "--columns", "email,name,phone_number"]);
  const [head = "", ...rows] = known.split("\n");
  const there = await run(to, ["people", "export", "--columns", "email,name,phone_number"]);
  expect(there.split("\n").toSorted()).toEqual([head, "first@example.com,,", ...rows].toSorted());
});
