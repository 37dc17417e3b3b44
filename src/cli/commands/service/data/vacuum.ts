import { chooseServicePlace, dataPlace } from "../../../command/data-place.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { checkColumns } from "../../../render/record-output.ts";
import { VACUUMED } from "../service-resources.ts";
import { noteDuration, showRecord, withAdmin } from "./data-file.ts";

/** On a slow machine. */
const REWRITTEN_A_SECOND = 30_000_000;

export const vacuum = defineCommand({
  name: "vacuum",
  summary: "give the space of deleted rows back to the disk",
  examples: ["surveyctl service vacuum --data survey.db", "surveyctl service vacuum --json"],
  exits: [EXIT.done, EXIT.failed],
  flags: { data: dataPlace() },
  columns: VACUUMED,
  run: async (deps, { data }) => {
    checkColumns(deps, VACUUMED);
    const sizes = await withAdmin(deps, { data }, async (admin) => {
      const verb = "nothing can be saved meanwhile: rewriting";
      const place = await chooseServicePlace(deps, { data });
      if (place.kind === "file") await noteDuration(deps, place.dataFile, { verb, perSecond: REWRITTEN_A_SECOND });
      return admin({ kind: "vacuum" });
    });
    await showRecord(deps, VACUUMED, sizes);
  },
});
