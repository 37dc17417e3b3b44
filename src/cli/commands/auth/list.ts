import type { Command } from "commander";
import type { JsonObject } from "../../../contract/json.ts";
import type { Profile } from "../../../config/profiles.ts";
import type { Deps } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { openListOutput } from "../../render/list-output.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { loadProfiles } from "./profile-file.ts";
import { maskKey, PROFILES } from "./resource.ts";

export function registerList(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "list",
    alias: "ls",
    summary: "list saved connections",
    examples: ["surveyctl auth list", "surveyctl auth list --json"],
    exits: [EXIT.done, EXIT.usage],
    columns: PROFILES,
  });
  context.action(command, runList);
}

export async function runList(deps: Deps): Promise<ExitCode> {
  const { byName, defaultName } = await loadProfiles(deps);
  const rows = [...byName].map(([name, profile]) => describe(name, profile, name === defaultName));
  const output = await openListOutput(deps, { resource: PROFILES });
  await output.write({ rows, text: JSON.stringify(rows) });
  await output.end();
  return EXIT.done;
}

function describe(name: string, profile: Profile, isDefault: boolean): JsonObject {
  const key =
    "api_key" in profile
      ? { api_key: maskKey(profile.api_key), api_key_source: `profile ${name}` }
      : { api_key: null, api_key_source: `key command of profile ${name}` };
  return { profile: name, base_url: profile.base_url, ...key, default: isDefault };
}
