import { parseOutputFile } from "../../../args/values.ts";
import { chooseServicePlace, parseDatabaseUrl, refuseMemory, showDatabase } from "../../../kit/data/data-place.ts";
import { countOf } from "../../../../contract/text/whole-number.ts";
import { writeDone } from "../../../kit/notes.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { checkColumns } from "../../../render/record-output.ts";
import { toResource } from "../service-resources.ts";
import { copyAll, pausedUntil, rowsOf } from "./copy-all.ts";
import { existingDataFile, noteDataFile, placeFlags, rejectDryRun, showList } from "./data-file.ts";

const MOVED_TABLES = toResource(
  "tables",
  { table: "text", rows: "number", least_id: "number", most_id: "number", digest: "text" },
  ["digest"],
);

export const move = defineCommand({
  name: "move",
  summary: "move all data to another, empty store, and compare every table",
  examples: [
    "surveyctl service move --to /srv/survey.db --data survey.db",
    "surveyctl service move --to postgres://surveys@db.internal/surveys -o json",
  ],
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.interrupted, EXIT.terminated],
  flags: {
    place: placeFlags("data file to move; it must not be served"),
    to: {
      flag: "--to",
      value: "place",
      text: "empty data file, or one not there yet, or URL of an empty database",
      required: true,
      parse: parseTarget,
    },
  },
  columns: MOVED_TABLES,
  run: async (deps, { place: choice, to }) => {
    checkColumns(deps, MOVED_TABLES);
    rejectDryRun(deps);
    const place = await chooseServicePlace(deps, await noteDataFile(deps, choice));
    const from = place.kind === "file" ? existingDataFile(place) : showDatabase(place.url);
    const fromDatabase = place.kind === "file" ? null : { url: place.url, mayMigrate: false };
    const isDatabase = isUrl(to);
    const target = isDatabase
      ? { to: showDatabase(to), toDatabase: { url: to, mayMigrate: true } }
      : { to, toDatabase: null };
    const { moveStore } = await import("../../../../service/data-file/move-store.ts");
    const { tables } = await copyAll(deps, moveStore, { from, fromDatabase, ...target });
    await showList(deps, MOVED_TABLES, tables);
    const rows = countOf(rowsOf(tables), "row", "rows");
    await writeDone(deps, `Moved ${rows} to ${target.to} and compared every table. ${from} can no longer be served.`);
    await writeDone(deps, pausedUntil(target.to, isDatabase ? "--database" : "--data"));
  },
});

function isUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(text);
}

function parseTarget(text: string, place: string): string {
  if (isUrl(text)) return parseDatabaseUrl(text, place);
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) throw new UsageError(`${place} must be a data file or a postgres:// URL`);
  refuseMemory(text, place);
  return parseOutputFile(text, place);
}
