import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readRawLines } from "../../../../src/bulk/import/table/records.ts";
import { openTestInput } from "../../../helpers/input-file.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-raw-"));
});
afterAll(() => rm(folder, { recursive: true }));

const LONG = "x".repeat(70_000);

it.each([
  ["a\nb\nc\n", 2, 2, "b"],
  ["a\r\nb\r\nc", 2, 3, "b\r\nc"],
  ["a\rb\rc\r", 3, 3, "c"],
  ["a\n\n\nb", 2, 4, "\n\nb"],
  ["\ufeffa;b\n", 1, 1, "a;b"],
  [`${LONG}\n${LONG}é\r\nc`, 2, 2, `${LONG}é`],
  ["a\nb\n", 4, 5, ""],
])("when a file is %j, then its lines %i to %i are %j", async (text, first, last, expected) => {
  const file = path.join(folder, "lines.csv");
  await writeFile(file, text);
  expect(await readRawLines(await openTestInput(file), first, last)).toBe(expected);
});
