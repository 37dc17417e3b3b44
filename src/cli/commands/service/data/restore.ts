import { chooseServicePlace } from "../../../kit/data/data-place.ts";
import { countOf } from "../../../../contract/text/whole-number.ts";
import { writeDone, writeNote, writeWarning } from "../../../kit/notes.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { toResource } from "../../../render/columns.ts";
import { copyAll, pausedUntil, rowsOf } from "./copy-all.ts";
import { dataAt, placeFlags, noteDataFile, rejectDryRun, showRecord } from "./data-file.ts";

const RESTORED = toResource("files", {
  data: "text",
  rows: "number",
  projects: "number",
  people: "number",
  responses: "number",
  surveys: "number",
  paused_at: "time",
});

export const restore = defineCommand({
  name: "restore",
  summary: "fill an empty data file from a backup; surveys wait until `service resume`",
  examples: [
    "surveyctl service restore survey-backup.db --data survey.db",
    "surveyctl service restore /backup/survey.db.3 --data earlier.db",
  ],
  args: { file: { form: "<file>", text: "the backup" } },
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.interrupted, EXIT.terminated],
  flags: { place: placeFlags("new or empty data file") },
  columns: RESTORED,
  run: async (deps, { file, place: choice }) => {
    rejectDryRun(deps);
    const place = await chooseServicePlace(deps, await noteDataFile(deps, choice));
    const { dataFile: to, database: toDatabase } = dataAt(place, true);
    const { restoreStore } = await import("../../../../service/data-file/move-store.ts");
    const { tables, later, ...restored } = await copyAll(deps, restoreStore, { from: file, to, toDatabase });
    await showRecord(deps, RESTORED, { data: to, rows: rowsOf(tables), ...restored });
    if (later.unread !== null) await writeWarning(deps, later.unread);
    if (later.erased > 0)
      await writeNote(deps, `left out ${countOf(later.erased, "person", "people")} erased after the backup was made`);
    await writeDone(deps, `Restored ${file} into ${to}. ${pausedUntil(place.kind, to)}`);
  },
});
