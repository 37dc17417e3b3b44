import type { Profile } from "../../../config/profiles.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { COUNT_FLAG } from "../../kit/rows/list-rows.ts";
import { pathColumn, type Resource } from "../../render/columns.ts";
import { writeList } from "../../render/list-output.ts";
import { maskKey, UNKNOWN_ACCESS } from "./status.ts";
import { nameProfile } from "../../../config/settings.ts";
import { settingsRequest } from "../../kit/deps.ts";
import { writeDone } from "../../kit/notes.ts";
import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { changeProfiles, checkSaved, DEFAULT_PROFILE, loadProfiles, refuseDryRun } from "./profile-file.ts";

export const logout = defineCommand({
  name: "logout",
  summary: "remove the profile named by --profile, or else the default one",
  examples: ["surveyctl auth logout", "surveyctl auth logout --profile prod"],
  exits: [EXIT.done, EXIT.usage, EXIT.auth],
  run: async (deps) => {
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
      await writeDone(
        deps,
        `No default profile is set; choose one with: surveyctl auth use NAME (${[...byName.keys()].join(", ")})`,
      );
  },
});

export const use = defineCommand({
  name: "use",
  summary: "choose the default profile",
  args: { name: { form: "<profile>", text: "a profile's name, from `auth list`" } },
  examples: ["surveyctl auth use prod", "surveyctl auth use default"],
  exits: [EXIT.done, EXIT.usage, EXIT.auth],
  run: async (deps, { name }) => {
    refuseDryRun(deps);
    checkSaved(await loadProfiles(deps), name);
    await changeProfiles(deps, (saved) => ({ ...saved, defaultName: name }));
    await writeDone(deps, `Default profile is now "${name}".`);
  },
});

const PROFILES: Resource = {
  noun: "profiles",
  columns: ["profile", "base_url", "api_key", "api_key_source", "access", "default"].map((name) => pathColumn(name)),
  table: ["profile", "base_url", "api_key", "access", "default"],
  dropFirst: ["api_key", "access"],
};

export const list = defineCommand({
  name: "list",
  summary: "list saved connections",
  examples: ["surveyctl auth list", "surveyctl auth list --json"],
  exits: [EXIT.done, EXIT.usage],
  flags: { count: COUNT_FLAG },
  columns: PROFILES,
  run: async (deps, { count }) => {
    const { byName, defaultName } = await loadProfiles(deps);
    const rows = [...byName].map(([name, profile]) => describe(name, profile, name === defaultName));
    await writeList(deps, { resource: PROFILES, count }, rows);
  },
});

function describe(name: string, profile: Profile, isDefault: boolean): JsonObject {
  const key =
    "api_key" in profile
      ? { api_key: maskKey(profile.api_key), api_key_source: `profile ${name}` }
      : { api_key: null, api_key_source: `key command of profile ${name}` };
  const access = profile.access ?? UNKNOWN_ACCESS;
  return { profile: name, base_url: profile.base_url, ...key, access, default: isDefault };
}
