import { parseOutputFile } from "../../../args/values.ts";
import { chooseServicePlace, type DataPlace, parseDatabaseUrl, refuseMemory } from "../../../kit/data/data-place.ts";
import { countOf } from "../../../../contract/text/whole-number.ts";
import { writeDone } from "../../../kit/notes.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { toResource } from "../../../render/columns.ts";
import { copyAll, pausedUntil, rowsOf } from "./copy-all.ts";
import { dataAt, existingData, placeFlags, noteDataFile, rejectDryRun, showList } from "./data-file.ts";

const MOVED_TABLES = toResource(
  "tables",
  { table: "text", rows: "number", least_id: "number", most_id: "number", digest: "text" },
  ["digest"],
);

export const move = defineCommand({
  name: "move",
  summary: "move all data to an empty data file or database, and compare every table",
  examples: [
    "surveyctl service move --to /srv/survey.db --data survey.db",
    "surveyctl service move --to postgres://surveys@db.internal/surveys -o json",
  ],
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.interrupted, EXIT.terminated],
  flags: {
    place: placeFlags("data file to move; it must not be served"),
    to: {
      value: "place",
      text: "new or empty data file, or URL of an empty database",
      required: true,
      parse: parseTarget,
    },
  },
  columns: MOVED_TABLES,
  run: async (deps, { place: choice, to }) => {
    rejectDryRun(deps);
    const place = await chooseServicePlace(deps, await noteDataFile(deps, choice));
    const { dataFile: from, database: fromDatabase } = existingData(place);
    const { dataFile: name, database: toDatabase } = dataAt(to, true);
    const { moveStore } = await import("../../../../service/data-file/move-store.ts");
    const { tables } = await copyAll(deps, moveStore, { from, fromDatabase, to: name, toDatabase });
    await showList(deps, MOVED_TABLES, tables);
    const rows = countOf(rowsOf(tables), "row");
    await writeDone(deps, `Moved ${rows} to ${name} and compared every table. ${from} can no longer be served.`);
    await writeDone(deps, pausedUntil(to.kind, name));
  },
});

function parseTarget(text: string, place: string): DataPlace {
  if (/^postgres(?:ql)?:\/\//i.test(text)) return { kind: "database", url: parseDatabaseUrl(text, place) };
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) throw new UsageError(`${place} must be a data file or a postgres:// URL`);
  refuseMemory(text, place);
  return { kind: "file", dataFile: parseOutputFile(text, place), isNamed: true };
}
