import { suggest } from "../args/suggest.ts";
import { UsageError } from "../errors/usage-error.ts";
import { arrange } from "../program/arrange.ts";
import { readCommandLine } from "../program/command-line.ts";
import { COMMAND_GROUPS } from "../program/command-groups.ts";
import { commandMeant, incomplete } from "../program/usage-problems.ts";
import { TOPICS } from "./topics.ts";

export async function helpText(words: readonly string[], columns: number): Promise<string> {
  const path = words.filter((word) => !word.startsWith("-"));
  const flag = words.find((word) => word.startsWith("-") && !["--help", "-h", "--json"].includes(word));
  if (flag !== undefined)
    throw new UsageError(`help: unknown flag ${flag}`, {
      hint: "help takes a command, a topic, or --json",
    });
  if (words.includes("--json")) return helpJson(path);
  const topic = path.length === 1 ? TOPICS.get(path[0] ?? "") : undefined;
  if (topic !== undefined) return topic;
  checkKnown(path[0]);
  const line = await readCommandLine([...path, "--help"], { columns });
  return line.kind === "text" ? line.text : "";
}

async function helpJson(path: readonly string[]): Promise<string> {
  const { describeCommand, describeProgram } = await import("./help-tree.ts");
  if (path.length === 0) return toText(await describeProgram());
  checkKnown(path[0]);
  const arranged = await arrange(COMMAND_GROUPS, path);
  if (arranged.path.length === 0) throw new UsageError(`help: the topic ${path[0] ?? ""} is not available as JSON`);
  if (arranged.stray !== null) throw incomplete(arranged);
  return toText(describeCommand(arranged.command, arranged.path.slice(0, -1)));
}

function toText(json: object): string {
  return `${JSON.stringify(json, null, 2)}\n`;
}

function checkKnown(word: string | undefined): void {
  if (word === undefined) return;
  const names = COMMAND_GROUPS.flatMap(({ name, alias }) => (alias === undefined ? [name] : [name, alias]));
  if (names.includes(word) || TOPICS.has(word)) return;
  const meant = commandMeant([], word);
  if (meant !== null) throw new UsageError(`unknown command ${JSON.stringify(word)}; use: surveyctl ${meant}`);
  const nearest = suggest(word, [...names, ...TOPICS.keys()]);
  throw new UsageError(`unknown command or topic "${word}"`, {
    hint: nearest === null ? `available topics: ${[...TOPICS.keys()].join(", ")}` : `did you mean ${nearest}?`,
  });
}
