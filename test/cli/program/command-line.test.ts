import { describe, expect, it } from "vitest";
import { GLOBAL_FLAGS } from "../../../src/cli/args/global-options.ts";
import { UsageError } from "../../../src/cli/errors/usage-error.ts";
import { EXIT } from "../../../src/cli/exit-codes.ts";
import { type CommandNode, defineGroup } from "../../../src/cli/kit/command-node.ts";
import { defineCommand } from "../../../src/cli/kit/define-command.ts";
import { type Call, readCommandLine } from "../../../src/cli/program/command-line.ts";
import type { CommandGroup } from "../../../src/cli/program/command-groups.ts";
import { fakeDeps } from "../../helpers/fake-deps.ts";

const FACTS = { summary: "do it", examples: ["one", "two"], exits: [EXIT.done], run: async () => EXIT.refused };

const PEOPLE = [
  defineCommand({
    ...FACTS,
    name: "list",
    alias: "ls",
    flags: { since: { flag: "--since", value: "time", text: "since" }, all: { flag: "--all", text: "all" } },
  }),
  defineCommand({ ...FACTS, name: "get", args: { person: { form: "<person>", text: "who" } } }),
  defineCommand({
    ...FACTS,
    name: "add",
    flags: {
      name: { flag: "--name", value: "name", text: "name" },
      noSend: { flag: "--no-send", text: "do not send" },
    },
  }),
  defineGroup({
    name: "key",
    summary: "keys",
    commands: [defineCommand({ ...FACTS, name: "revoke", args: { id: { form: "<id>", text: "which" } } })],
  }),
];

const SERVE = [defineCommand({ ...FACTS, flags: { insecure: { flag: "--insecure-http", text: "its own" } } })];

const OUT = { out: { flag: "--out", value: "file", text: "the file" } } as const;
const REPORT = [
  defineCommand({ ...FACTS, flags: OUT }),
  defineCommand({ ...FACTS, name: "verify", args: { file: { form: "<file>", text: "which" } }, flags: OUT }),
];

function groups(loaded: string[]): CommandGroup[] {
  const group = (name: string, alias: string | undefined, commands: readonly CommandNode[]): CommandGroup => ({
    name,
    ...(alias !== undefined && { alias }),
    summary: `what ${name} is for`,
    section: "Service",
    load: async () => {
      loaded.push(name);
      return { commands };
    },
  });
  return [group("people", "person", PEOPLE), group("serve", undefined, SERVE), group("report", undefined, REPORT)];
}

interface Read {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly operands: readonly string[];
  readonly loaded: readonly string[];
}

async function callOf(line: string, loaded: string[]): Promise<Call> {
  const found = await readCommandLine(words(line), { groups: groups(loaded) });
  if (found.kind === "text") throw new Error("no command was called");
  return found.call;
}

const OWN_FLAGS = ["--since", "--all", "--name", "--no-send", "--insecure-http", "--out"];

async function read(line: string): Promise<Read> {
  const loaded: string[] = [];
  const { flags, operands } = await callOf(line, loaded);
  const globals = GLOBAL_FLAGS.filter((flag) => flag.default === undefined).map(({ flag }): string => flag);
  const given = [...globals, ...OWN_FLAGS].flatMap((flag) => {
    const name = flag.replace("--no-", "--");
    const switched = flags.isOff(name) ? false : flag === name && flags.is(name) ? true : undefined;
    const several = flags.all(name).length > 0 ? flags.all(name) : undefined;
    const value = flags.text(name) ?? several ?? (flags.count(name) || undefined) ?? switched;
    const key = name.slice(2).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    return value === undefined ? [] : [[key, value]];
  });
  return { flags: Object.fromEntries(given) as Read["flags"], operands, loaded };
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
  const found = await readCommandLine(words(line), { groups: groups([]) });
  return found.kind === "text" ? found.text : "no help";
}

const KEY_IS_SEEN = "a key on a command line is visible to other users and kept in history";
const KEY_HINT = "set SURVEYCTL_API_KEY, or save the key with: surveyctl auth login";

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
    // A flag's value can look like a flag.
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
    ["people list --key abc", `unknown flag --key: ${KEY_IS_SEEN}`, KEY_HINT],
    ["people list --sinse=7d", "unknown flag --sinse", "did you mean --since?"],
    ["people list --all=yes", "--all takes no value", "surveyctl people list --help shows its usage and flags"],
    ["--json=1 people list", "--json takes no value", "surveyctl people list --help shows its usage and flags"],
    ["people add --no-send=x", "--no-send takes no value", "surveyctl people add --help shows its usage and flags"],
    ["people list --help=all", "--help takes no value", "surveyctl people list --help shows its usage and flags"],
    ["people list --key=abc", `unknown flag --key: ${KEY_IS_SEEN}`, KEY_HINT],
    ["--api-key=abc", `unknown flag --api-key: ${KEY_IS_SEEN}`, KEY_HINT],
    ["people list --profil x", "unknown flag --profil", "did you mean --profile?"],
    ["--bogus people list", "unknown flag --bogus", "surveyctl people list --help shows its usage and flags"],
    ["people list extra", 'unexpected argument "extra"', "surveyctl people list --help shows its usage and flags"],
    ["people get a b", 'unexpected argument "b"', "surveyctl people get --help shows its usage and flags"],
    ["people get", "<person> is required", "surveyctl people get --help shows its usage and flags"],
    ["people list --since", "--since: a value is required", "surveyctl people list --help shows its usage and flags"],
    ["report verfy a.html", 'unknown command "report verfy"', "did you mean verify?"],
    ["report --ot a.html", "unknown flag --ot", "did you mean --out?"],
    ["report verify", "<file> is required", "surveyctl report verify --help shows its usage and flags"],
    ["people list help", 'unexpected argument "help"', "surveyctl people list --help shows its usage and flags"],
  ])("when it is %s, then it is refused", async (line, message, hint) => {
    expect(await refusal(line)).toEqual([message, hint]);
  });

  it("gives the command's own status", async () => {
    const { action, flags, operands } = await callOf("people list", []);
    expect(await action(fakeDeps().deps, flags, operands)).toBe(EXIT.refused);
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
  2  usage: an invalid flag, value or input file; nothing was sent

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
  2  usage: an invalid flag, value or input file; nothing was sent

Global flags: surveyctl help flags
`,
    ]);
  });

  it("when it is the program's own, then no noun is loaded", async () => {
    const loaded: string[] = [];
    const { kind } = await readCommandLine(["--help"], { groups: groups(loaded) });
    expect([kind, loaded]).toEqual(["text", []]);
  });

  it("when a command has a flag of the shared ones itself, then help shows it among its own", async () => {
    expect(await help("serve --help")).toContain("Flags:\n  --insecure-http  its own\n");
  });
});
