import type { Command } from "commander";
import type { CommandContext } from "../../command/command-context.ts";
import { registerLogin } from "./login.ts";
import { maskKey, PROFILES, registerStatus, UNKNOWN_ACCESS } from "./status.ts";
import type { JsonObject } from "../../../contract/json.ts";
import type { Profile } from "../../../config/profiles.ts";
import { type Deps, settingsRequest } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { openListOutput } from "../../render/list-output.ts";
import { changeProfiles, checkSaved, DEFAULT_PROFILE, listNames, loadProfiles, refuseDryRun } from "./profile-file.ts";
import { COUNT_FLAG } from "../../command/list-rows.ts";
import { writeDone } from "../../command/notes.ts";
import { nameProfile } from "../../../config/settings.ts";

export function register(noun: Command, context: CommandContext): void {
  for (const add of [registerLogin, registerLogout, registerStatus, registerList, registerUse]) add(noun, context);
}

export function registerList(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "list",
    alias: "ls",
    summary: "list saved connections",
    examples: ["surveyctl auth list", "surveyctl auth list --json"],
    exits: [EXIT.done, EXIT.usage],
    flags: [COUNT_FLAG],
    columns: PROFILES,
  });
  context.action(command, (deps, flags) => runList(deps, { count: flags.is("--count") }));
}

export async function runList(deps: Deps, { count }: { readonly count: boolean }): Promise<ExitCode> {
  const { byName, defaultName } = await loadProfiles(deps);
  const rows = [...byName].map(([name, profile]) => describe(name, profile, name === defaultName));
  const output = await openListOutput(deps, { resource: PROFILES, count });
  await output.write({ rows, text: JSON.stringify(rows) });
  await output.end();
  return EXIT.done;
}

function describe(name: string, profile: Profile, isDefault: boolean): JsonObject {
  const key =
    "api_key" in profile
      ? { api_key: maskKey(profile.api_key), api_key_source: `profile ${name}` }
      : { api_key: null, api_key_source: `key command of profile ${name}` };
  const access = profile.access ?? UNKNOWN_ACCESS;
  return { profile: name, base_url: profile.base_url, ...key, access, default: isDefault };
}

export function registerUse(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "use",
    summary: "choose the default profile",
    operands: [["<profile>", "a profile's name, from `auth list`"]],
    examples: ["surveyctl auth use prod", "surveyctl auth use default"],
    exits: [EXIT.done, EXIT.usage, EXIT.auth],
  });
  context.action(command, (deps, _flags, [name = ""]) => runUse(deps, name));
}

export async function runUse(deps: Deps, name: string): Promise<ExitCode> {
  refuseDryRun(deps);
  checkSaved(await loadProfiles(deps), name);
  await changeProfiles(deps, (saved) => ({ ...saved, defaultName: name }));
  await writeDone(deps, `Default profile is now "${name}".`);
  return EXIT.done;
}

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
  const { defaultName, byName } = await changeProfiles(deps, (saved) => ({
    defaultName: saved.defaultName === name ? null : saved.defaultName,
    byName: new Map([...saved.byName].filter(([one]) => one !== name)),
  }));
  await writeDone(deps, `Removed profile "${name}".`);
  if (defaultName === null && byName.size > 0)
    await writeDone(deps, `No default profile is set; choose one with: surveyctl auth use NAME (${listNames(byName)})`);
  return EXIT.done;
}
