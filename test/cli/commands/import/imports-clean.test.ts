import { writeFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { formatEntry, type JournalEntry, type JournalHead } from "../../../../src/bulk/import/journal/journal-entry.ts";
import { fakeDeps, NOW } from "../../../helpers/fake-deps.ts";
import { runCommand } from "../../../helpers/run-command.ts";

const NAME = "a.csv.people-import.results.csv.journal";
const HEAD: JournalHead = {
  format: 2,
  input: "5a",
  file: "a.csv",
  rows: 1,
  command: "people import",
  choices: {},
  baseUrl: "https://survey.example.com",
  key: "",
  at: NOW,
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-clean-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function writeJournal(entries: readonly JournalEntry[]): void {
  writeFileSync(path.join(folder, NAME), entries.map((entry) => `${formatEntry(entry)}\n`).join(""));
}

test("when a run has begun anew since the look, then its journal stays; else it goes, and no lock is left", async () => {
  const { deps, out, err } = fakeDeps();
  writeJournal([{ head: HEAD }, { end: true }]);
  const token = (bytes: number): string => {
    writeJournal([{ head: HEAD }, { intent: [2], at: NOW }]);
    return "t".repeat(bytes);
  };
  await runCommand({ ...deps, random: { ...deps.random, token } }, ["imports", "clean", folder]);
  expect([await readdir(folder), out(), err()]).toEqual([
    [NAME],
    "",
    "Removed 0 journals.\nnote: 1 import is not finished: see surveyctl imports list\n",
  ]);
  writeJournal([{ head: HEAD }, { end: true }]);
  await runCommand(deps, ["imports", "clean", folder]);
  expect(await readdir(folder)).toEqual([]);
});
