import type { StoreContents } from "../../../../service/domain/ports.ts";
import { parseDuration, parseInteger, parseOutputFile } from "../../../args/values.ts";
import { asCliError } from "../../../kit/data/data-file-errors.ts";
import { chooseServicePlace, type DataPlace } from "../../../kit/data/data-place.ts";
import type { Deps } from "../../../kit/deps.ts";
import { countOf } from "../../../../contract/text/whole-number.ts";
import { watchLock, writeDone } from "../../../kit/notes.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT } from "../../../exit-codes.ts";
import { defineCommand } from "../../../kit/define-command.ts";
import { DAY_SECONDS } from "../../../../runtime/zone.ts";
import { DRILLED, runDrill } from "../drill.ts";
import { checkColumns } from "../../../render/record-output.ts";
import { toResource } from "../../../render/columns.ts";
import { copyAll } from "./copy-all.ts";
import { dataAt, PLACE, noteDuration, rejectDryRun, showRecord, withStore } from "./data-file.ts";

/** Bytes copied and checked per second on a slow machine. */
const CHECKED_A_SECOND = 30_000_000;

const WRITTEN = toResource("files", {
  file: "text",
  bytes: "number",
  rows: "number",
  projects: "number",
  people: "number",
  responses: "number",
  surveys: "number",
  schema: "number",
  sha256: "text",
});

const BOTH = new Map([...WRITTEN.columns, ...DRILLED.columns].map((column) => [column.name, column]));

export const backup = defineCommand({
  name: "backup",
  summary: "back up all data to a file while the service runs, or test a backup",
  examples: [
    "surveyctl service backup survey-backup.db --data survey.db",
    "surveyctl service backup /backup/survey.db --keep 7 --data survey.db",
    "surveyctl service backup --drill /backup --data survey.db",
  ],
  args: {
    file: {
      form: "<file>",
      text: "the file to write; it must not exist, unless --keep is given. With --drill, the backup or its folder",
      parse: parseBackupFile,
    },
  },
  exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.assertion, EXIT.interrupted, EXIT.terminated],
  flags: {
    place: PLACE,
    keep: {
      value: "number",
      text: "replace FILE, and keep this many backups in all: FILE, FILE.1 and so on",
      parse: (text: string, flag: string) => parseInteger(text, flag, { min: 1, max: 1000 }),
    },
    drill: {
      text: "restore FILE, or the newest backup of a folder, to a temporary file, and compare it with the data",
      conflicts: ["--keep"],
    },
    maxAge: {
      value: "duration",
      text: "fail if the backup is older",
      otherwise: "1d",
      requires: ["--drill"],
      parse: parseDuration,
    },
  },
  columns: { ...WRITTEN, columns: [...BOTH.values()], json: [WRITTEN.columns, DRILLED.columns] },
  run: async (deps, { file, place: choice, keep, drill, maxAge }) => {
    checkColumns(deps, drill ? DRILLED : WRITTEN);
    rejectDryRun(deps);
    if (drill) return runDrill(deps, file, choice, maxAge ?? DAY_SECONDS);
    const { backUp, copyThrough } = await import("../../../../service/data-file/backup.ts");
    const { clock, random, signal } = deps;
    const place = await chooseServicePlace(deps, choice);
    const target = { file, keep, clock, random, signal, watch: watchLock(deps) };
    const { info, removed } =
      place.kind === "database"
        ? await asCliError(() => backUp({ ...target, dataFile: null, copy: copyOf(deps, place) }))
        : await withStore(deps, choice, async (_, store) => {
            const { dataFile } = place;
            await noteDuration(deps, dataFile, "copying and checking", CHECKED_A_SECOND);
            return asCliError(() => backUp({ ...target, dataFile, copy: copyThrough(store, file) }));
          });
    await showRecord(deps, WRITTEN, info);
    if (removed.length > 0) await writeDone(deps, describeRemoved(removed));
  },
});

function describeRemoved(names: readonly string[]): string {
  const [newest, oldest] = [names[0], names.at(-1)];
  const which = names.length === 1 ? newest : `${newest} to ${oldest}`;
  return `Removed ${countOf(names.length, "older backup")}: ${which}.`;
}

function copyOf(deps: Deps, place: DataPlace): (to: string) => Promise<StoreContents> {
  const { dataFile: from, database: fromDatabase } = dataAt(place);
  return async (to) => {
    const { copyDatabase } = await import("../../../../service/data-file/move-store.ts");
    return copyAll(deps, copyDatabase, { from, fromDatabase, to });
  };
}

/** Throws UsageError for standard output, because the finished backup is read again to check it. */
function parseBackupFile(text: string): string {
  if (text === "-") throw new UsageError("a backup cannot be written to standard output; name a file");
  return parseOutputFile(text, "backup");
}
