import type { Command } from "commander";
import { nameProfile } from "../../../config/settings.ts";
import { type Deps, settingsRequest } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { writeDone } from "../../command/notes.ts";
import { checkSaved, DEFAULT_PROFILE, listNames, loadProfiles, refuseDryRun, saveProfiles } from "./profile-file.ts";

export function registerLogout(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "logout",
    summary: "remove a profile: --profile, or else the default one",
    examples: ["surveyctl auth logout", "surveyctl auth logout --profile prod"],
    exits: [EXIT.done, EXIT.usage, EXIT.auth],
  });
  context.action(command, runLogout);
}

export async function runLogout(deps: Deps): Promise<ExitCode> {
  refuseDryRun(deps);
  const profiles = await loadProfiles(deps);
  const name = nameProfile(settingsRequest(deps))?.value ?? profiles.defaultName ?? DEFAULT_PROFILE;
  checkSaved(profiles, name);
  const byName = new Map([...profiles.byName].filter(([saved]) => saved !== name));
  const defaultName = profiles.defaultName === name ? null : profiles.defaultName;
  await saveProfiles(deps, { defaultName, byName });
  await writeDone(deps, `Removed profile "${name}".`);
  if (defaultName === null && byName.size > 0)
    await writeDone(deps, `No default profile is set; choose one with: surveyctl auth use NAME (${listNames(byName)})`);
  return EXIT.done;
}
