import type { Command } from "commander";
import type { Deps } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { writeDone } from "../../command/notes.ts";
import { checkSaved, loadProfiles, refuseDryRun, saveProfiles } from "./profile-file.ts";

export function registerUse(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "use",
    summary: "choose the default profile",
    operands: [["<profile>", "name of a profile, as in auth list"]],
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
  await writeDone(deps, `Default profile is now "${name}".`);
  return EXIT.done;
}
