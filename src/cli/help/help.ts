/** `surveyctl help …`: a topic, a command's help, or the command tree as JSON. */
import { suggest } from "../args/suggest.ts";
import { UsageError } from "../errors/usage-error.ts";
import { readCommandLine } from "../program/command-line.ts";
import { NOUNS } from "../program/nouns.ts";
import { commandMeant } from "../program/other-words.ts";
import { TOPICS } from "./topics.ts";

/** The text at a width of so many columns. Throws UsageError for words that are neither a command nor a topic. */
export async function helpText(words: readonly string[], columns: number): Promise<string> {
  const path = words.filter((word) => !word.startsWith("-"));
  const flag = words.find((word) => word.startsWith("-") && !["--help", "-h", "--json"].includes(word));
  if (flag !== undefined)
    throw new UsageError(`help: unknown flag ${flag}`, {
      hint: "help takes a command, a topic, or --json",
    });
  if (words.includes("--json")) {
    const { writeTree } = await import("./help-tree.ts");
    return writeTree();
  }
  const topic = path.length === 1 ? TOPICS.get(path[0] ?? "") : undefined;
  if (topic !== undefined) return topic;
  checkKnown(path[0]);
  const line = await readCommandLine([...path, "--help"], { columns });
  return line.kind === "text" ? line.text : "";
}

function checkKnown(word: string | undefined): void {
  if (word === undefined) return;
  const names = NOUNS.flatMap(({ name, alias }) => (alias === undefined ? [name] : [name, alias]));
  if (names.includes(word)) return;
  const meant = commandMeant([], word);
  if (meant !== null) throw new UsageError(`unknown command ${JSON.stringify(word)}; use: surveyctl ${meant}`);
  const nearest = suggest(word, [...names, ...TOPICS.keys()]);
  throw new UsageError(`unknown command or topic "${word}"`, {
    hint: nearest === null ? `available topics: ${[...TOPICS.keys()].join(", ")}` : `did you mean ${nearest}?`,
  });
}
