import type { Command } from "commander";
import type { Deps } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { writeNote } from "../../command/notes.ts";
import { checkSaved, loadProfiles, refuseDryRun, saveProfiles } from "./profile-file.ts";

export function registerUse(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "use",
    summary: "make a saved connection the default",
    operands: [["<profile>", "its name, as auth list shows it"]],
    examples: ["surveyctl auth use prod", "surveyctl auth use default"],
    exits: [EXIT.done, EXIT.usage, EXIT.auth],
  });
  context.action(command, (deps, _flags, [name = ""]) => runUse(deps, name));
}

export async function runUse(deps: Deps, name: string): Promise<ExitCode> {
  refuseDryRun(deps);
  const profiles = await loadProfiles(deps);
  checkSaved(profiles, name);
  await saveProfiles(deps, { ...profiles, defaultName: name });
  await writeNote(deps, `commands without --profile now use "${name}"`);
  return EXIT.done;
}
