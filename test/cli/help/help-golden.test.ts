/** Help at other widths and in other terminals than docs/commands.md, which has every page at 80 columns. */
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { stripVTControlCharacters } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { groupsAbove, readCommands } from "../../helpers/command-tree.ts";
import { runInProcess } from "../../helpers/in-process.ts";
import { bareEnvironment, follow, inTerminal, PROGRAM } from "../../helpers/run-cli.ts";

let names: readonly string[];
beforeAll(async () => {
  names = (await readCommands()).map(({ name }) => name);
});

const heading = (name: string): string => `$ surveyctl ${name} --help\n`;

async function show(commands: readonly string[], columns: number | null): Promise<string> {
  const texts = commands.map(async (name) => {
    const args = [...name.split(" "), "--help"];
    const { status, stdout, stderr } = await runInProcess({ args, ...(columns !== null && { columns }) });
    expect([status, stderr]).toEqual([0, ""]);
    return heading(name) + stripVTControlCharacters(stdout);
  });
  return (await Promise.all(texts)).join("");
}

async function showReally(name: string, columns: number | null): Promise<string> {
  const script = `echo '$ surveyctl ${name} --help'; '${process.execPath}' '${PROGRAM}' ${name} --help`;
  const [command = "", ...args] = columns === null ? ["bash", "-c", script] : inTerminal(script, columns);
  const running = follow(spawn(command, args, { cwd: tmpdir(), env: bareEnvironment(tmpdir()) }));
  running.child.stdin.end();
  const { status, stdout, stderr } = await running.ended;
  expect([status, stderr]).toEqual([0, ""]);
  return stripVTControlCharacters(stdout).replaceAll("\r\n", "\n");
}

it("help fits a terminal of 60 columns", async () => {
  const text = await show(names, 60);
  expect(text.split("\n").filter((line) => line.length > 60 && !line.startsWith("$ "))).toEqual([]);
  const people = names.filter((name) => name.startsWith("people "));
  await expect(await show(["people", ...people], 60)).toMatchFileSnapshot("../../golden/help/people-60.txt");
});

it.each([60, 80, 120, null])("help is the same in a true terminal of %s columns", async (columns) => {
  expect(await showReally("metrics", columns)).toBe(await show(["metrics"], columns));
});

it("help is no wider in a wide terminal or a pipe", async () => {
  const text = await show(names, 80);
  expect([await show(names, 120), await show(names, null)]).toEqual([text, text]);
});

it("when a group of commands is asked for help, then it says how its own commands are asked", async () => {
  const groups = [...new Set(names.flatMap(groupsAbove))];
  const texts = await Promise.all(groups.map((name) => show([name], 80)));
  const others = groups.filter((name, at) => !texts[at]?.includes(`\nUse "surveyctl ${name} <command> --help" for`));
  expect([others, groups.length > 15]).toEqual([[], true]);
});

describe("headings", () => {
  const page = ["people", "get", "--help"];
  it.each<[string, readonly string[], { readonly columns?: number; readonly env?: Record<string, string> }, string[]]>([
    ["a terminal", page, { columns: 80 }, ["Usage:", "Arguments:", "Examples:", "Exit statuses:"]],
    ["help of a terminal", ["help", "environment"], { columns: 80 }, ["Environment variables:"]],
    ["a pipe", page, {}, []],
    [
      "a pipe with colour",
      page,
      { env: { FORCE_COLOR: "1" } },
      ["Usage:", "Arguments:", "Examples:", "Exit statuses:"],
    ],
    ["a terminal without colour", page, { columns: 80, env: { NO_COLOR: "1" } }, []],
    ["a terminal and --no-color", [...page, "--no-color"], { columns: 80 }, []],
  ])("are bold where colour is on: %s", async (_, args, options, bold) => {
    const { stdout } = await runInProcess({ args, ...options });
    // oxlint-disable-next-line no-control-regex -- the codes of a terminal are what is looked for
    expect([...stdout.matchAll(/\u001b\[1m(.*?)\u001b\[22m/g)].map(([, text]) => text)).toEqual(bold);
  });
});
