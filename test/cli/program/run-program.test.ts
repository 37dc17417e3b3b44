import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import type { CommandContext } from "../../../src/cli/command/command-context.ts";
import { UsageError } from "../../../src/cli/errors/usage-error.ts";
import { EXIT } from "../../../src/cli/exit-codes.ts";
import { runProgram } from "../../../src/cli/program.ts";
import type { Noun } from "../../../src/cli/program/nouns.ts";

const FACTS = { summary: "do it", examples: ["one", "two"], exits: [EXIT.done] };

function registerPeople(noun: Command, context: CommandContext): void {
  const flags = [{ flag: "--since", value: "time", text: "since" } as const, { flag: "--all", text: "all" } as const];
  const list = context.verb(noun, { ...FACTS, name: "list", alias: "ls", flags });
  context.action(list, async () => EXIT.done);
  const get = context.verb(noun, { ...FACTS, name: "get", operands: [["<person>", "who"]] });
  context.action(get, async () => EXIT.refused);
  const add = context.verb(noun, {
    ...FACTS,
    name: "add",
    flags: [
      { flag: "--name", value: "name", text: "name" },
      { flag: "--no-send", text: "do not send" },
    ],
  });
  context.action(add, async () => EXIT.done);
  const keys = noun.command("key").description("keys");
  context.action(
    context.verb(keys, { ...FACTS, name: "revoke", operands: [["<id>", "which"]] }),
    async () => EXIT.done,
  );
}

function registerServe(noun: Command, context: CommandContext): void {
  context.action(
    context.describe(noun, { ...FACTS, flags: [{ flag: "--insecure-http", text: "its own" }] }),
    async () => EXIT.done,
  );
}

function registerReport(noun: Command, context: CommandContext): void {
  const flags = [{ flag: "--out", value: "file", text: "the file" } as const];
  context.action(context.describe(noun, { ...FACTS, flags }), async () => EXIT.done);
  const facts = { ...FACTS, name: "verify", operands: [["<file>", "which"] as const], flags };
  context.action(context.verb(noun, facts), async () => EXIT.done);
}

/** One noun with verbs and a nested noun among them, one that is a command itself, and one that is both. */
function nouns(loaded: string[]): Noun[] {
  const noun = (name: string, alias: string | undefined, register: typeof registerPeople): Noun => ({
    name,
    ...(alias !== undefined && { alias }),
    summary: `what ${name} is for`,
    group: "Service",
    load: async () => {
      loaded.push(name);
      return { register };
    },
  });
  return [
    noun("people", "person", registerPeople),
    noun("serve", undefined, registerServe),
    noun("report", undefined, registerReport),
  ];
}

interface Read {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly operands: readonly string[];
  readonly loaded: readonly string[];
}

/** What the command is called with: flags other than those that nobody gave. */
async function read(line: string): Promise<Read> {
  const loaded: string[] = [];
  let called: Omit<Read, "loaded"> | null = null;
  await runProgram(words(line), {
    nouns: nouns(loaded),
    invoke: async (_action, flags, operands) => {
      const given = Object.entries(flags).filter(
        ([name, value]) => !(name === "color" || name === "send") || value !== true,
      );
      called = {
        operands,
        flags: Object.fromEntries(
          given.filter(([, value]) => value !== 0 && !(Array.isArray(value) && value.length === 0)),
        ),
      };
      return EXIT.done;
    },
  });
  if (called === null) throw new Error("no command was called");
  return { ...(called as Omit<Read, "loaded">), loaded };
}

const words = (line: string): string[] => (line === "" ? [] : line.split(" ").map((word) => word.replaceAll("_", " ")));

async function refusal(line: string): Promise<[string, string | null]> {
  try {
    return [`taken: ${JSON.stringify(await read(line))}`, null];
  } catch (error) {
    return error instanceof UsageError ? [error.message, error.hint] : [String(error), null];
  }
}

async function help(line: string): Promise<string> {
  const outcome = await runProgram(words(line), { nouns: nouns([]), invoke: async () => EXIT.done });
  return outcome.kind === "text" ? outcome.text : "no help";
}

describe("a command line", () => {
  it.each<[string, Read["flags"], readonly string[]]>([
    ["people list", {}, []],
    ["person ls", {}, []],
    ["people list --profile prod -q", { profile: "prod", quiet: true }, []],
    ["--profile prod -q people list", { profile: "prod", quiet: true }, []],
    ["people --profile prod -q list", { profile: "prod", quiet: true }, []],
    ["--profile=prod people list -q", { profile: "prod", quiet: true }, []],
    ["--profile people people list", { profile: "people" }, []],
    ["people --since 7d list --all", { since: "7d", all: true }, []],
    ["--since 7d people list", { since: "7d" }, []],
    ["-ojson people list", { output: "json" }, []],
    ["-qo json people list", { quiet: true, output: "json" }, []],
    ["-vv people list -v", { verbose: 3 }, []],
    ["people list --columns a,b --columns c", { columns: ["a,b", "c"] }, []],
    ["people list --profile a --profile b", { profile: "b" }, []],
    // A flag's value is its value, whatever it looks like.
    ["people add --name --json", { name: "--json" }, []],
    ["people add --name -q --dry-run", { name: "-q", dryRun: true }, []],
    ["people add --name --help", { name: "--help" }, []],
    ["people --name list add", { name: "list" }, []],
    ["people add --no-send", { send: false }, []],
    ["people get a@example.com --json", { json: true }, ["a@example.com"]],
    ["people get -- --json", {}, ["--json"]],
    ["people get list", {}, ["list"]],
    ["people key --quiet revoke 7", { quiet: true }, ["7"]],
    ["serve --insecure-http", { insecureHttp: true }, []],
    ["--no-color serve", { color: false }, []],
    ["report", {}, []],
    ["report --out verify -q", { out: "verify", quiet: true }, []],
    ["-q --out verify report", { out: "verify", quiet: true }, []],
    ["report verify a.html -q", { quiet: true }, ["a.html"]],
    ["report --out b.html -q verify a.html", { out: "b.html", quiet: true }, ["a.html"]],
  ])("when it is %s", async (line, flags, operands) => {
    const noun = ["serve", "report"].find((name) => line.split(" ").includes(name)) ?? "people";
    expect(await read(line)).toEqual({ flags, operands, loaded: [noun] });
  });

  it.each<[string, string, string | null]>([
    ["peopel list", 'unknown command "peopel"', "did you mean people?"],
    ["--json peopel list", 'unknown command "peopel"', "did you mean people?"],
    ["people lst", 'unknown command "people lst"', "did you mean list?"],
    ["people --json lst", 'unknown command "people lst"', "did you mean list?"],
    ["person lst", 'unknown command "person lst"', "did you mean list?"],
    ["people key revok 7", 'unknown command "people key revok"', "did you mean revoke?"],
    ["frobnicate", 'unknown command "frobnicate"', "available commands: people, serve, report"],
    ["people --json", "people --json: a command is required", "available commands: list, get, add, key"],
    ["--quiet", "surveyctl --quiet: a command is required", "available commands: people, serve, report"],
    ["--verison", "unknown flag --verison", "did you mean --version?"],
    ["version", 'unknown command "version"', "did you mean --version?"],
    ["--hlep", "unknown flag --hlep", "did you mean --help?"],
    ["people --sinse=7d", "unknown flag --sinse", "did you mean --since?"],
    ["people --quiet --bogus", "unknown flag --bogus", "available commands: list, get, add, key"],
    ["people list --sinse 7d", "unknown flag --sinse", "did you mean --since?"],
    [
      "people list --key abc",
      "unknown flag --key: a key on a command line is visible to other users and kept in history",
      "set SURVEYCTL_API_KEY, or save the key with: surveyctl auth login",
    ],
    ["people list --sinse=7d", "unknown flag --sinse", "did you mean --since?"],
    ["people list --all=yes", "--all takes no value", "surveyctl people list --help shows its usage and flags"],
    ["--json=1 people list", "--json takes no value", "surveyctl people list --help shows its usage and flags"],
    ["people add --no-send=x", "--no-send takes no value", "surveyctl people add --help shows its usage and flags"],
    ["people list --help=all", "--help takes no value", "surveyctl people list --help shows its usage and flags"],
    [
      "people list --key=abc",
      "unknown flag --key: a key on a command line is visible to other users and kept in history",
      "set SURVEYCTL_API_KEY, or save the key with: surveyctl auth login",
    ],
    [
      "--api-key=abc",
      "unknown flag --api-key: a key on a command line is visible to other users and kept in history",
      "set SURVEYCTL_API_KEY, or save the key with: surveyctl auth login",
    ],
    ["people list --profil x", "unknown flag --profil", "did you mean --profile?"],
    ["--bogus people list", "unknown flag --bogus", "surveyctl people list --help shows its usage and flags"],
    ["people list extra", 'unexpected argument "extra"', "surveyctl people list --help shows its usage and flags"],
    ["people get a b", 'unexpected argument "b"', "surveyctl people get --help shows its usage and flags"],
    ["people get", "<person> is required", "surveyctl people get --help shows its usage and flags"],
    ["people list --since", "--since: a value is required", "surveyctl people list --help shows its usage and flags"],
    ["report a.html", 'unknown command "report a.html"; use: surveyctl report --out a.html', null],
    ["report verfy a.html", 'unknown command "report verfy"', "did you mean verify?"],
    ["report --ot a.html", "unknown flag --ot", "did you mean --out?"],
    ["report verify", "<file> is required", "surveyctl report verify --help shows its usage and flags"],
    ["people list help", 'unexpected argument "help"', "surveyctl people list --help shows its usage and flags"],
  ])("when it is %s, then it is refused", async (line, message, hint) => {
    expect(await refusal(line)).toEqual([message, hint]);
  });

  it("when the command gives a status, then that is how it ends", async () => {
    const options = { nouns: nouns([]), invoke: async (): Promise<typeof EXIT.partial> => EXIT.partial };
    expect(await runProgram(["people", "list"], options)).toEqual({ kind: "done", exit: EXIT.partial });
  });

  it("when the command throws, then so does the program", async () => {
    const fault = new Error("broken");
    const options = { nouns: nouns([]), invoke: async (): Promise<never> => Promise.reject(fault) };
    await expect(runProgram(["people", "list"], options)).rejects.toBe(fault);
  });
});

describe("help", () => {
  it.each([
    "people list --help",
    "people list -h",
    "--help people list",
    "people --help list",
    "people help list",
    "person ls -h --json",
  ])("when it is asked as %s, then it is the verb's", async (line) => {
    expect(await help(line)).toMatch(
      /^Do it\.\n\nUsage:\n {2}surveyctl people list \[flags\]\n\nFlags:\n {2}--since <time>/,
    );
  });

  it.each(["people", "people --help", "people help", "people -h -q"])(
    "when it is asked as %s, then it is the noun's",
    async (line) => {
      expect(await help(line)).toMatch(
        /^What people is for\.\n\nUsage:\n {2}surveyctl people <command> \[flags\]\n\nCommands:\n {2}list, ls {2}do it\n/,
      );
    },
  );

  it("when a noun acts and has a verb, then each has a page with its usage and its flags", async () => {
    expect([await help("report --help"), await help("report help"), await help("report verify --help")]).toEqual([
      `What report is for.

Usage:
  surveyctl report [flags]
  surveyctl report <command> [flags]

Commands:
  verify  do it

Flags:
  --out <file>  the file

Examples:
  one
  two

Exit statuses:
  0  done
  2  usage: a wrong flag, value or input file; nothing was sent

Use "surveyctl report <command> --help" for its flags and examples.
Global flags: surveyctl help flags
`,
      await help("report --help"),
      `Do it.

Usage:
  surveyctl report verify <file> [flags]

Arguments:
  file  which

Flags:
  --out <file>  the file

Examples:
  one
  two

Exit statuses:
  0  done
  2  usage: a wrong flag, value or input file; nothing was sent

Global flags: surveyctl help flags
`,
    ]);
  });

  it("when it is the program's own, then no noun is loaded", async () => {
    const loaded: string[] = [];
    const outcome = await runProgram(["--help"], { nouns: nouns(loaded), invoke: async () => EXIT.done });
    expect([outcome.kind, loaded]).toEqual(["text", []]);
  });

  it("when a command has a flag of the shared ones itself, then help shows it among its own", async () => {
    expect(await help("serve --help")).toContain("Flags:\n  --insecure-http  its own\n");
  });
});
