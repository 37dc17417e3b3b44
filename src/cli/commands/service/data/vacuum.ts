import { chooseServicePlace } from "../../../kit/data/data-place.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { toResource } from "../../../render/columns.ts";
import { noteDuration, PLACE, showRecord, withStore } from "./data-file.ts";

/** Bytes rewritten per second on a slow machine. */
const REWRITTEN_A_SECOND = 30_000_000;

const VACUUMED = toResource("files", { bytes_before: "number", bytes: "number" });

export const vacuum = defineCommand({
  name: "vacuum",
  summary: "return the space of deleted rows to the disk",
  examples: ["surveyctl service vacuum --data survey.db", "surveyctl service vacuum --json"],
  exits: [EXIT.done, EXIT.failed],
  flags: { place: PLACE },
  columns: VACUUMED,
  run: async (deps, { place: choice }) => {
    const { bytesBefore, bytesAfter } = await withStore(deps, { ...choice, changes: true }, async (_, store) => {
      const verb = "nothing can be saved while it runs: rewriting";
      const place = await chooseServicePlace(deps, choice);
      if (place.kind === "file") await noteDuration(deps, place.dataFile, verb, REWRITTEN_A_SECOND);
      return store.vacuum();
    });
    await showRecord(deps, VACUUMED, { bytes_before: bytesBefore, bytes: bytesAfter });
  },
});
