/** Every command's help as terminals of three widths and a pipe get it (vitest run test/cli/program -u rewrites the files). */
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { stripVTControlCharacters } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { readCommands } from "../../helpers/command-tree.ts";
import { runInProcess } from "../../helpers/in-process.ts";
import { isLong } from "../../helpers/long.ts";
import { bareEnvironment, follow, inTerminal, PROGRAM } from "../../helpers/run-cli.ts";

/** Each noun's command lines, the noun alone first. */
let nouns: ReadonlyMap<string, readonly string[]>;
beforeAll(async () => {
  const names = (await readCommands()).map(({ name }) => name);
  nouns = new Map(
    names.map(nounOf).map((noun) => [noun, [...new Set([noun, ...names.filter((name) => nounOf(name) === noun)])]]),
  );
});

function nounOf(name: string): string {
  return name.split(" ")[0] ?? "";
}

const heading = (name: string): string => `$ surveyctl ${name} --help\n`;

/** The built program in this process, whose streams say that they are terminals of that width. */
async function show(commands: readonly string[], columns: number | null): Promise<string> {
  const texts = commands.map(async (name) => {
    const args = [...name.split(" "), "--help"];
    const { status, stdout, stderr } = await runInProcess({ args, ...(columns !== null && { columns }) });
    expect([status, stderr]).toEqual([0, ""]);
    return heading(name) + stripVTControlCharacters(stdout);
  });
  return (await Promise.all(texts)).join("");
}

/** The program itself, in one pseudo-terminal or pipe, a command after the other. */
async function showReally(commands: readonly string[], columns: number | null): Promise<string> {
  const lines = commands.map(
    (name) => `echo '$ surveyctl ${name} --help'; '${process.execPath}' '${PROGRAM}' ${name} --help`,
  );
  const script = lines.join(" && ");
  const [command = "", ...args] = columns === null ? ["bash", "-c", script] : inTerminal(script, columns);
  const running = follow(spawn(command, args, { cwd: tmpdir(), env: bareEnvironment(tmpdir()) }));
  running.child.stdin.end();
  const { status, stdout, stderr } = await running.ended;
  expect([status, stderr]).toEqual([0, ""]);
  return stripVTControlCharacters(stdout).replaceAll("\r\n", "\n");
}

describe.each([60, 80, 120, null])("%s columns", (columns) => {
  it("when every command is asked for help, then it is what it was, and fits", async () => {
    // No help is wider than 80 columns: a wide terminal and a pipe get the same.
    const width = Math.min(columns ?? 80, 80);
    for (const [noun, commands] of nouns) {
      const text = await show(commands, columns);
      await expect(text).toMatchFileSnapshot(`../../golden/help/${noun}-${width}.txt`);
      expect(text.split("\n").filter((line) => line.length > width)).toEqual([]);
    }
    expect(nouns.size).toBeGreaterThan(9);
  });

  it("when the program runs in a true terminal or pipe, then its help is the same", async () => {
    const asked = isLong ? [...nouns.values()] : [nouns.get("metrics") ?? []];
    for (const commands of asked) expect(await showReally(commands, columns)).toBe(await show(commands, columns));
  });
});

it("when a group of commands is asked for help, then it says how its own commands are asked", async () => {
  const names = (await readCommands()).map(({ name }) => name.split(" ").slice(0, -1).join(" "));
  const groups = [...new Set(names)].filter((name) => name !== "");
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
