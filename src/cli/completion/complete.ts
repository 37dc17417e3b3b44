/** `surveyctl __complete <words…> =<current>`, called by the scripts. Sends nothing and loads little. */
import { readFileSync } from "node:fs";
import { configFile } from "../../config/places.ts";
import { findCandidates, mayBeFile, type CommandTree } from "./candidates.ts";
import type { Process } from "../process.ts";

/**
 * Prints lines of value, tab and description, or `:files` for file names. The last word has a leading `=`, because some
 * shells drop empty words.
 */
export async function complete(process: Process, words: readonly string[]): Promise<string> {
  const current = (words.at(-1) ?? "=").replace(/^=/, "");
  const tree = await loadTree();
  const found = findCandidates(tree, words.slice(0, -1), current, () => savedProfiles(process));
  if (found.length === 0 && mayBeFile(tree, words.slice(0, -1), current)) return ":files\n";
  return found.map(({ value, description }) => `${value}\t${description}\n`).join("");
}

/** The build writes the tree, because creating it would load every command. */
async function loadTree(): Promise<CommandTree> {
  try {
    return JSON.parse(readFileSync(new URL("completion.json", import.meta.url), "utf8")) as CommandTree;
  } catch {
    const { describeProgram } = await import("../help/help-tree.ts");
    return (await describeProgram()) as CommandTree;
  }
}

/** The command itself reports an unreadable file. */
function savedProfiles(process: Process): string[] {
  try {
    const { profiles } = JSON.parse(readFileSync(configFile(process), "utf8")) as { readonly profiles: object };
    return [...Object.keys(profiles), "local"];
  } catch {
    return ["local"];
  }
}
