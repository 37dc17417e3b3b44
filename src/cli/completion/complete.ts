/** `surveyctl __complete <words…> =<current>`: what the completion scripts ask. No network, and little to load. */
import { readFileSync } from "node:fs";
import { configFile } from "../../config/places.ts";
import { findCandidates, mayBeFile, type CommandTree } from "./candidates.ts";
import type { Process } from "../process.ts";

/**
 * A line each: the value, a tab, what it is; `:files` alone where file names are wanted. The last word carries a `=` in
 * front, since some shells drop empty words.
 */
export async function complete(process: Process, words: readonly string[]): Promise<string> {
  const current = (words.at(-1) ?? "=").replace(/^=/, "");
  const lookups = { profiles: () => savedProfiles(process) };
  const tree = await loadTree();
  const found = findCandidates(tree, words.slice(0, -1), current, lookups);
  if (found.length === 0 && mayBeFile(tree, words.slice(0, -1), current)) return ":files\n";
  return found.map(({ value, description }) => `${value}\t${description}\n`).join("");
}

/** The build writes the tree down: making it would load every command. */
async function loadTree(): Promise<CommandTree> {
  try {
    return JSON.parse(readFileSync(new URL("completion.json", import.meta.url), "utf8")) as CommandTree;
  } catch {
    const { describeProgram } = await import("../help/help-tree.ts");
    return (await describeProgram()) as CommandTree;
  }
}

/** A file that cannot be read offers nothing; the command itself will say what is wrong. */
function savedProfiles(process: Process): string[] {
  try {
    const { profiles } = JSON.parse(readFileSync(configFile(process), "utf8")) as { readonly profiles: object };
    return [...Object.keys(profiles), "local"];
  } catch {
    return ["local"];
  }
}
