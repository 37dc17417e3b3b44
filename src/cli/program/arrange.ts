/** Flags can come before the command's name, so the words of the name are moved to the front. */
import type { FlagRecord } from "../args/flag-record.ts";
import { GLOBAL_FLAGS } from "../args/global-options.ts";
import { type CommandNode, defineGroup } from "../kit/command-node.ts";
import { loadGroup, type CommandGroup } from "./command-groups.ts";

export interface Arranged {
  readonly command: CommandNode;
  readonly path: readonly string[];
  readonly typed: readonly string[];
  readonly rest: readonly string[];
  /** A word that should be a command but isn't; null if there is none. */
  readonly stray: string | null;
}

/** Loads only the named group. */
export async function arrange(groups: readonly CommandGroup[], args: readonly string[]): Promise<Arranged> {
  const commands = groups.map((group) => defineGroup({ ...group, commands: [] }));
  const program = defineGroup({ name: "surveyctl", summary: "", commands });
  let arranged: Arranged = { command: program, path: [], typed: [], rest: args, stray: null };
  while (arranged.stray === null && arranged.command.commands.length > 0) {
    const next = step(arranged);
    if (next === null) break;
    const group = groups.find(({ name }) => arranged.command === program && name === next.command.name);
    arranged = group === undefined ? next : { ...next, command: await loadGroup(group) };
  }
  return arranged;
}

function step({ command, path, typed, rest }: Arranged): Arranged | null {
  const at = findWord(rest, command);
  const word = at === null ? undefined : rest[at];
  if (at === null || word === undefined) return null;
  const found = command.commands.find((sub) => isCalled(sub, word));
  if (found === undefined) return { command, path, typed, rest, stray: word };
  return {
    command: found,
    path: [...path, found.name],
    typed: [...typed, word],
    rest: rest.toSpliced(at, 1),
    stray: null,
  };
}

function findWord(words: readonly string[], command: CommandNode): number | null {
  const flags = flagsFor(command);
  let mayBeValue = false;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (word === "--") return at + 1 < words.length ? at + 1 : null;
    if (word.startsWith("-") && word !== "-") {
      const value = valueOf(word, flags);
      mayBeValue = value === "unknown";
      if (value === "next") at += 1;
    } else if (!mayBeValue || command.commands.some((sub) => isCalled(sub, word))) return at;
    else mayBeValue = false; // the value of a subcommand's flag
  }
  return null;
}

function isCalled({ name, alias }: CommandNode, word: string): boolean {
  return name === word || alias === word;
}

/** Whether a flag's value is the next word or part of `word`. A switch, which takes no value, counts as "own". */
function valueOf(word: string, flags: readonly FlagRecord[]): "next" | "own" | "unknown" {
  if (word.startsWith("--")) {
    if (word.includes("=")) return "own";
    const found = flags.find(({ flag }) => flag === word);
    return found === undefined ? "unknown" : found.value === undefined ? "own" : "next";
  }
  for (let at = 1; at < word.length; at += 1) {
    const found = flags.find(({ short }) => short === `-${word[at]}`);
    if (found === undefined) return "unknown";
    if (found.value !== undefined) return at === word.length - 1 ? "next" : "own";
  }
  return "own";
}

/** Flags allowed after a command's name: global ones, its own, and those of its subcommands. */
export function flagsFor(command: CommandNode): readonly FlagRecord[] {
  const below = ({ flags, commands }: CommandNode): FlagRecord[] => [...flags, ...commands.flatMap(below)];
  return [...GLOBAL_FLAGS, ...below(command)];
}
