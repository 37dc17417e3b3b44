import type { Command } from "commander";
import type { CommandContext } from "../../../command/command-context.ts";
import {
  chooseServicePlace,
  DATA_FLAG,
  DATABASE_FLAGS,
  type DataFileChoice,
  readPlace,
  showDatabase,
} from "../../../command/data-place.ts";
import type { Deps } from "../../../command/deps.ts";
import { countOf, writeDone, writeNote, writeWarning } from "../../../command/notes.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { checkColumns } from "../../../render/record-output.ts";
import { RESTORED } from "../service-resources.ts";
import { copyAll, pausedUntil, rowsOf } from "./copy-all.ts";
import { rejectDryRun, showRecord, noteDataFile } from "./data-file.ts";

interface RestoreFlags extends DataFileChoice {
  readonly file: string;
}

async function runRestore(deps: Deps, { data, file }: RestoreFlags): Promise<ExitCode> {
  checkColumns(deps, RESTORED);
  rejectDryRun(deps);
  const place = await chooseServicePlace(deps, await noteDataFile(deps, { data }));
  const isDatabase = place.kind === "database";
  const to = isDatabase ? showDatabase(place.url) : place.dataFile;
  const toDatabase = isDatabase ? { url: place.url, mayMigrate: true } : null;
  const { restoreStore } = await import("../../../../service/data-file/move-store.ts");
  const { tables, later, ...restored } = await copyAll(deps, restoreStore, { from: file, to, toDatabase });
  await showRecord(deps, RESTORED, { data: to, rows: rowsOf(tables), ...restored });
  if (later.unread !== null) await writeWarning(deps, later.unread);
  if (later.erased > 0)
    await writeNote(deps, `left out ${countOf(later.erased, "person", "people")} erased after the backup was made`);
  await writeDone(deps, `Restored ${file} into ${to}. ${pausedUntil(to, isDatabase ? "--database" : "--data")}`);
  return EXIT.done;
}

export function registerRestore(parent: Command, context: CommandContext): void {
  const restore = context.verb(parent, {
    name: "restore",
    summary: "fill an empty data file from a backup; surveys wait until `service resume`",
    operands: [["<file>", "the backup"]],
    examples: [
      "surveyctl service restore survey-backup.db --data survey.db",
      "surveyctl service restore /backup/survey.db.3 --data earlier.db",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.interrupted, EXIT.terminated],
    flags: [{ ...DATA_FLAG, text: "data file to fill: empty, or not there yet" }, ...DATABASE_FLAGS],
    columns: RESTORED,
  });
  context.action(restore, (deps, flags, [file = ""]) => runRestore(deps, { data: readPlace(flags), file }));
}
