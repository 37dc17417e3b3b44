import { writeDone } from "../../kit/notes.ts";
import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { changeProfiles, checkSaved, loadProfiles, refuseDryRun } from "./profile-file.ts";

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
