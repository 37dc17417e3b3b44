import { nameProfile } from "../../../config/settings.ts";
import { settingsRequest } from "../../kit/deps.ts";
import { writeDone } from "../../kit/notes.ts";
import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { changeProfiles, checkSaved, DEFAULT_PROFILE, listNames, loadProfiles, refuseDryRun } from "./profile-file.ts";

export const logout = defineCommand({
  name: "logout",
  summary: "remove a profile: --profile, or else the default one",
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
        `No default profile is set; choose one with: surveyctl auth use NAME (${listNames(byName)})`,
      );
  },
});
