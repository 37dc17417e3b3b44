import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, describe, expect, it, test } from "vitest";
import { EXIT } from "../src/cli/exit-codes.ts";
import { helpText } from "../src/cli/help/help.ts";
import { TOPICS } from "../src/cli/help/topics.ts";
import { hasBrowser, launchBrowser } from "./helpers/browser.ts";
import { groupsAbove, readCommands, type CommandLine } from "./helpers/command-tree.ts";
import { bareEnvironment, follow, inTerminal, runCli, shellProgram, type Running } from "./helpers/run-cli.ts";
import { parseStory, runStory } from "./helpers/story.ts";

const root = path.join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const readme = read("README.md");
const commandsPage = read("docs/commands.md");
const PAGES = [
  "README.md",
  "CHANGELOG.md",
  "src/contract/README.md",
  ...readdirSync(path.join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

let commands: readonly CommandLine[];
beforeAll(async () => {
  commands = await readCommands();
});

function chapter(title: string, page = readme): string {
  return page.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? "";
}

function blocks(text: string, language: string): string[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map(([, block = ""]) => block);
}

test("when somebody opens the README, then the first block is the two commands", () => {
  const [first = ""] = blocks(readme, "sh");
  expect(first.split("\n").map((line) => line.replace(/ +#.*/, ""))).toEqual([
    "npm ci && npm run demo",
    "npm ci && npm test",
    "",
  ]);
});

test("when the first five minutes are typed into two terminals, then each shows what the README shows", async () => {
  const [served = "", ...typed] = blocks(chapter("Five minutes"), "console");
  const [link = "", answer = ""] = typed.splice(-2);
  const home = await mkdtemp(path.join(tmpdir(), "surveyctl-readme-"));
  const first = terminal(home, commandOf(served).replace(/^surveyctl (.*)/, "$$0 $1 --port 0"));
  try {
    const [screen] = await first.saying(
      /^.*people add --email you@example\.com\r\n\r\n.*?note: no mail server[^\r]*\r\n/s,
    );
    const [, url = ""] = /listening on (http\S+)/.exec(screen) ?? [];
    const [, key = ""] = KEY_LINE.exec(screen.replaceAll("\r", "")) ?? [];
    const here = (text: string): string =>
      text.replaceAll("http://127.0.0.1:8080", url).replaceAll(KEY_SHOWN, key).replace("~", home);
    expect(withoutNote(screen)).toBe(here(outputOf(served)));
    const script = typed
      .join("")
      .trimEnd()
      .split("\n")
      .map((line) => (line.startsWith("$ ") ? `tty${line}` : `> ${withoutChance(line)}`));
    await runStory(parseStory(["env NO_COLOR=1", `env HOME=${home}`, ...script].join("\n")));
    const inFolder = async (block: string): Promise<string> => {
      const { stdout } = await terminal(home, commandOf(block).replace("surveyctl", "NO_COLOR=1 $0")).ended;
      return stdout.replaceAll("\r", "");
    };
    const shown = await inFolder(link);
    expect(shown.replace(/[\w-]{22}\n$/, "")).toBe(here(outputOf(link)).replace(/[\w-]{22}\n$/, ""));
    await answerIn(shown.replace(/^url +/, "").trim());
    expect(await inFolder(answer)).toBe(outputOf(answer));
    // The server must print nothing between the commands' output.
    first.child.stdin.write("\u0003");
    expect(withoutNote((await first.ended).stdout)).toBe(`${here(outputOf(served))}^CStopped.\n`);
  } finally {
    // SIGKILL would leave the program running, and it could still write into the folder.
    first.child.stdin.write("\u0003");
    await first.ended;
    await rm(home, { recursive: true, force: true });
  }
});

const SENTENCE = "Answered in five minutes.";

async function answerIn(url: string): Promise<void> {
  if (!hasBrowser) {
    await fetch(url, { method: "POST", body: new URLSearchParams({ score: "9", comment: SENTENCE }) });
    return;
  }
  const browser = await launchBrowser();
  const page = await browser.newPage();
  await page.goto(url);
  await page.check("#score-9");
  await page.fill("textarea", SENTENCE);
  await page.click("button");
  await page.getByText("Thank you!").waitFor();
  await browser.close();
}

/** Only Nodes whose SQLite can't lock out other programs print this note. */
function withoutNote(screen: string): string {
  return screen.replaceAll("\r", "").replaceAll(/^note: Node 22.*\n/gm, "");
}

const KEY_LINE = /^ {2}([\w-]{32})$/m;
const KEY_SHOWN = KEY_LINE.exec(readme)?.[1] ?? "";

/** Runs a shell line in a pseudo-terminal, wide enough to copy from. `$0` is the program. */
function terminal(home: string, line: string): Running {
  const [command = "", ...args] = inTerminal(line.replace("$0", shellProgram), 120);
  return follow(spawn(command, args, { cwd: home, env: bareEnvironment(home) }));
}

function commandOf(block: string): string {
  return /^\$ (.*)$/m.exec(block)?.[1] ?? "";
}

function outputOf(block: string): string {
  return block.replace(/^\$ .*\n/, "");
}

function withoutChance(line: string): string {
  return line.replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\dZ?|\d+(?= B,)/g, "[..]");
}

describe("commands", () => {
  it("when one exists, then the page of commands names it", () => {
    const [told = ""] = commandsPage.split("<!-- help -->");
    const missing = commands.filter(
      ({ name }) => !name.split(" ").every((word) => new RegExp(`\\b${word}\\b`).test(told)),
    );
    expect([missing.map(({ name }) => name), commands.length > 30]).toEqual([[], true]);
  });

  it("when its help changes, then its block in docs/commands.md does too (npm run docs rewrites them)", async () => {
    const pages = [...new Set(commands.flatMap(({ name }) => [...groupsAbove(name), name]))];
    const texts = await Promise.all(pages.map(helpOf));
    const blocksOfHelp = pages.map((name, index) => helpBlock(name, texts[index] ?? "")).join("\n");
    const generated = `${blocksOfHelp}\nGlobal flags:\n\n${fenced((await helpOf("flags")).replace(/^.*\n\n/, ""))}`;
    const [before = "", after = ""] = commandsPage.split(/^<!-- help -->$.*^<!-- end of help -->$/ms);
    await expect(`${before}<!-- help -->\n\n${generated}\n<!-- end of help -->${after}`).toMatchFileSnapshot(
      "../docs/commands.md",
    );
  });

  it("when a page types one, then it exists and has every flag that is written", () => {
    const scripts = PAGES.map(read).flatMap((page) =>
      ["sh", "console", "crontab"].flatMap((language) => blocks(page, language)),
    );
    const typed = scripts.join("").split("\n").flatMap(commandLines);
    const wrong = typed.flatMap(complaints);
    expect([wrong, typed.length > 25]).toEqual([[], true]);
  });
});

const helps = new Map<string, Promise<string>>();

/** Cached, because several tests read the same help. */
function helpOf(name: string): Promise<string> {
  const help = helps.get(name) ?? writeHelp(name);
  helps.set(name, help);
  return help;
}

function writeHelp(name: string): Promise<string> {
  return helpText(
    name.split(" ").filter((word) => word !== ""),
    80,
  );
}

function helpBlock(name: string, help: string): string {
  const own = help.replace(/\n?Global flags: surveyctl help flags\n$/, "");
  return `<details><summary><code>surveyctl ${name}</code></summary>\n\n${fenced(own)}\n</details>\n`;
}

function fenced(text: string): string {
  return `\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`;
}

function commandLines(line: string): string[][] {
  const parts = line.replace(/ +#.*/, "").split(/ (?:\|\|?|&&?)(?: |$)/);
  return parts.flatMap((part) => {
    const words = /\bsurveyctl (.*)$/.exec(part)?.[1];
    return words === undefined ? [] : [words.split(" ")];
  });
}

function complaints(words: readonly string[]): string[] {
  if (words.length === 1 && /^--(?:version|help)$/.test(words[0] ?? "")) return [];
  const named = commands.filter(({ name }) => name.split(" ").every((word) => words.includes(word)));
  const [command] = named.toSorted((left, right) => right.name.length - left.name.length);
  if (command === undefined) return [`no such command: ${words.join(" ")}`];
  const flags = words.filter((word) => /^--?[a-z]/i.test(word)).map((word) => word.split("=")[0] ?? "");
  return flags.filter((flag) => !command.flags.includes(flag)).map((flag) => `${command.name} has no ${flag}`);
}

test("when an exit status is promised, then its page says so", () => {
  const page = chapter("Exit statuses", read("docs/exit-codes-and-output.md"));
  const told = [...page.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, numbers = ""]) => numbers.split(", ").map(Number));
  expect(told).toEqual(Object.values(EXIT).toSorted((left, right) => left - right));
});

test("when the program reads a variable, then its help and the README name it", async () => {
  const { stdout } = await runCli({ args: ["help", "environment"] });
  const sources = readdirSync(path.join(root, "src"), { recursive: true, encoding: "utf8" });
  const written = sources.filter((name) => name.endsWith(".ts")).map((name) => read(`src/${name}`));
  const variables = [...new Set(written.join("").match(/(?<=["`])SURVEYCTL_[A-Z_]+(?=["`])/g) ?? [])];
  const untold = variables.filter((name) => ![stdout, readme].every((text) => text.includes(name)));
  expect([untold, variables.length > 10]).toEqual([[], true]);
});

test("when there is a benchmark, then its page says what it measures", () => {
  const names = readdirSync(path.join(root, "test/bench")).filter((name) => name.endsWith(".bench.js"));
  const page = read("docs/benchmarks.md");
  const untold = names.filter((name) => !page.includes(`\`${name.replace(".bench.js", "")}\``));
  expect([untold, names.length > 10]).toEqual([[], true]);
});

test("when a page links into the project, then the place is there", () => {
  const broken = PAGES.flatMap((page) => {
    const targets = [...read(page).matchAll(/\]\((?!http)([^)]+)\)/g)].map(([, target = ""]) => target);
    const isThere = (target: string): boolean => {
      const [file = "", anchor = ""] = target.split("#", 2);
      const place = file === "" ? page : path.join(path.dirname(page), file);
      return existsSync(path.join(root, place)) && (anchor === "" || anchorsOf(read(place)).includes(anchor));
    };
    return targets.filter((target) => !isThere(target)).map((target) => `${page}: ${target}`);
  });
  expect([broken, PAGES.length > 8]).toEqual([[], true]);
});

function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) => title.toLowerCase().replaceAll(" ", "-"));
}

test("when the README grows, then it stays a page that people read", () => {
  expect(readme.split("\n").length).toBeLessThan(350);
});

describe("help", () => {
  it("when a command is asked for help, then there are two examples or more, and exit statuses", () => {
    const wanting = commands.filter(({ examples, exits }) => examples.length < 2 || exits.length < 2);
    expect(wanting.map(({ name }) => name)).toEqual([]);
  });

  it("when a command is asked for help, then the flags that all have are one line at its end", async () => {
    const texts = await Promise.all(commands.map(({ name }) => helpOf(name)));
    expect(texts.filter((text) => !text.endsWith("\nGlobal flags: surveyctl help flags\n"))).toEqual([]);
    const { stdout } = await runCli({ args: ["help", "--json"] });
    const shared = (JSON.parse(stdout) as { global_flags: { name: string }[] }).global_flags.map(({ name }) => name);
    const topic = await helpOf("flags");
    expect([shared.filter((name) => !topic.includes(name)), shared.length > 15]).toEqual([[], true]);
  });

  it("when the program's own help names the topics, then it names them all", async () => {
    const [, named = ""] = /surveyctl help <topic> +(.*)\n/.exec((await helpOf("")).replaceAll(/,\n +/g, ", ")) ?? [];
    expect(named.split(", ")).toEqual([...TOPICS.keys()]);
  });

  it("when any help or topic is printed, then it fits 80 columns", async () => {
    const topics = [...TOPICS.keys()];
    const asked = ["", ...topics, ...commands.map(({ name }) => name)];
    const texts = await Promise.all(asked.map(helpOf));
    const wide = texts.flatMap((text, index) =>
      text
        .split("\n")
        .filter((line) => line.length > 80)
        .map((line) => `${asked[index]}: ${line}`),
    );
    expect([wide, texts.filter((text) => text === "")]).toEqual([[], []]);
  });
});
