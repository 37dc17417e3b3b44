import type { Profile } from "../../../config/profiles.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { COUNT_FLAG } from "../../kit/rows/list-rows.ts";
import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { pathColumn, type Resource } from "../../render/columns.ts";
import { writeList } from "../../render/list-output.ts";
import { loadProfiles } from "./profile-file.ts";
import { maskKey, UNKNOWN_ACCESS } from "./status.ts";

/** The same names as in `auth status`. */
const PROFILES: Resource = {
  noun: "profiles",
  columns: ["profile", "base_url", "api_key", "api_key_source", "access", "default"].map((name) => pathColumn(name)),
  table: ["profile", "base_url", "api_key", "access", "default"],
  dropFirst: ["api_key", "access"],
};

export const list = defineCommand({
  name: "list",
  alias: "ls",
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
