/**
 * Files of `dist` that a command opens. Loading them dominates the start: with 80 files a request took 5.1 times as
 * long as an empty Node program, with 8 it takes 3.4.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMAND_GROUPS } from "../../src/cli/program/command-groups.ts";
import { PROGRAM } from "../helpers/run-cli.ts";
import { type Served, startServe } from "../helpers/serve.ts";

const recorder = path.join(import.meta.dirname, "../helpers/record-loads.cjs");

let home: string;
let served: Served;
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-start-"));
  served = await startServe();
  // A report without responses is an error.
  await served.run(["people", "add", "--email", "ann@example.com", "--no-send"]);
  await served.run(["responses", "add", "--email", "ann@example.com", "--score", "9"]);
});
afterAll(async () => {
  await served.stop();
  await rm(home, { recursive: true, force: true });
});

interface Loaded {
  readonly files: readonly string[];
  readonly intl: readonly string[];
}

async function loadedBy(line: string): Promise<Loaded> {
  const record = path.join(home, "loads.txt");
  await rm(record, { force: true });
  const env = { ...served.env, HOME: home, PATH: process.env["PATH"], RECORD_LOADS: record };
  const argv = ["--require", recorder, PROGRAM, ...line.split(" ")];
  const { stderr } = await promisify(execFile)(process.execPath, argv, { env, cwd: home });
  expect(stderr).not.toMatch(/error/);
  const loads = (await readFile(record, "utf8")).split("\n");
  const matching = (pattern: RegExp) => [...new Set(loads.flatMap((load) => pattern.exec(load)?.[1] ?? []))];
  return { files: matching(/\/dist\/([^/]+\.js)$/), intl: matching(/^intl:(.*)$/) };
}

describe("files opened to start", () => {
  it.each([
    ["--version", 4],
    ["__complete people =l", 4],
    ["--help", 5],
    ["people list --help", 6],
    ["people list", 10],
    ["responses list", 9],
    ["responses export", 14],
    ["bounces list", 12],
    ["unsubscribes list", 12],
    ["metrics", 9],
    ["report --out report.html", 12],
    ["digest", 12],
    ["autopilot list", 12],
    ["auth status", 12],
    ["api /v1/people.json", 12],
  ])("%s opens at most %i", async (line, most) => {
    const { files } = await loadedBy(line);
    expect(files.slice(most)).toEqual([]);
    expect(files).toContain("main.js");
  });

  it.each(["metrics", "responses list"])("%s doesn't load the reader of import files", async (line) => {
    const { files } = await loadedBy(line);
    const modules = JSON.parse(
      await readFile(path.join(path.dirname(PROGRAM), "../dist/modules.json"), "utf8"),
    ) as Record<string, string[]>;
    expect(files.flatMap((file) => modules[file] ?? [])).not.toContain("src/bulk/import/table/records.ts");
  });

  /** Creating a formatter takes 5 to 15 ms, because it loads locale data. */
  it.each(COMMAND_GROUPS.map(({ name }) => name))("%s --help opens at most 8 and makes no formatter", async (noun) => {
    const { files, intl } = await loadedBy(`${noun} --help`);
    expect(files.slice(8)).toEqual([]);
    expect(files).not.toContain("connecting.js");
    expect(files).not.toContain("settings.js");
    expect(intl).toEqual([]);
  });
});
