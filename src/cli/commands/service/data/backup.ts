import type { Command } from "commander";
import type { MadeBackup } from "../../../../service/data-file/backup.ts";
import type { StoreContents } from "../../../../service/domain/ports.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import { parseInteger, parseOutputFile } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { asCliError } from "../../../command/data-file-errors.ts";
import {
  chooseServicePlace,
  DATA_FLAG,
  DATABASE_FLAGS,
  type DataFileChoice,
  readPlace,
  showDatabase,
} from "../../../command/data-place.ts";
import type { Deps } from "../../../command/deps.ts";
import { countOf, watchLock, writeDone } from "../../../command/notes.ts";
import { createProgress } from "../../../command/progress.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { noteDuration, rejectDryRun, showRecord, withAdmin } from "./data-file.ts";
import { BACKUP } from "../service-resources.ts";
import { checkColumns } from "../../../render/record-output.ts";

interface BackupFlags extends DataFileChoice {
  readonly file: string;
  /** The number of backups to keep; null refuses a file that is there. */
  readonly keep: number | null;
}

/** Of copying and checking, on a slow machine. */
const CHECKED_A_SECOND = 30_000_000;

async function runBackup(deps: Deps, { data, file, keep }: BackupFlags): Promise<ExitCode> {
  checkColumns(deps, BACKUP);
  rejectDryRun(deps);
  const { backUp, copyThrough } = await import("../../../../service/data-file/backup.ts");
  const { random, signal } = deps;
  const place = await chooseServicePlace(deps, { data });
  const { info, removed } =
    place.kind === "database"
      ? await backUpDatabase(deps, place.url, { file, keep })
      : await withAdmin(deps, { data }, async (admin) => {
          const { dataFile } = place;
          await noteDuration(deps, dataFile, { verb: "copying and checking", perSecond: CHECKED_A_SECOND });
          const copy = copyThrough(admin, file);
          return asCliError(() => backUp({ copy, dataFile, file, keep, random, signal, watch: watchLock(deps) }));
        });
  await showRecord(deps, BACKUP, info);
  if (removed.length > 0) await writeDone(deps, describeRemoved(removed));
  return EXIT.done;
}

/** `Removed 2 older backups: survey.db.1 to survey.db.2.` */
function describeRemoved(names: readonly string[]): string {
  const [newest, oldest] = [names[0], names.at(-1)];
  const which = names.length === 1 ? newest : `${newest} to ${oldest}`;
  return `Removed ${countOf(names.length, "older backup", "older backups")}: ${which}.`;
}

/** All rows at one moment, as a data file that can be restored into either engine. */
async function backUpDatabase(
  deps: Deps,
  url: string,
  target: Pick<BackupFlags, "file" | "keep">,
): Promise<MadeBackup> {
  const [{ backUp }, { copyDatabase }] = await Promise.all([
    import("../../../../service/data-file/backup.ts"),
    import("../../../../service/data-file/move-store.ts"),
  ]);
  const { clock, random, signal } = deps;
  const progress = createProgress(deps, "rows");
  const source = { from: showDatabase(url), fromDatabase: { url, mayMigrate: false }, clock, random, signal };
  const onRows = (rows: number): Promise<void> => progress.update(rows);
  try {
    const copy = (to: string): Promise<StoreContents> => copyDatabase({ ...source, to, onRows });
    return await asCliError(() => backUp({ ...target, copy, dataFile: null, random, signal, watch: watchLock(deps) }));
  } finally {
    await progress.end();
  }
}

const KEEP_FLAG: FlagRecord = {
  flag: "--keep",
  value: "number",
  text: "replace FILE, and keep this many backups in all: FILE, FILE.1 and so on",
};

/** A backup is checked once it is whole, and so it needs a file. Throws UsageError for standard output. */
function parseBackupFile(text: string): string {
  if (text === "-") throw new UsageError("a backup cannot be written to standard output; name a file");
  return parseOutputFile(text, "backup");
}

export function registerBackup(parent: Command, context: CommandContext): void {
  const backup = context.verb(parent, {
    name: "backup",
    summary: "copy all data to a file, while the service runs, and check the copy",
    operands: [["<file>", "the file to write; it must not exist, unless --keep is given"]],
    examples: [
      "surveyctl service backup survey-backup.db --data survey.db",
      "surveyctl service backup /backup/survey.db --keep 7 --data survey.db",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.interrupted, EXIT.terminated],
    flags: [DATA_FLAG, ...DATABASE_FLAGS, KEEP_FLAG],
    columns: BACKUP,
  });
  context.action(backup, (deps, flags, [file = ""]) =>
    runBackup(deps, {
      data: readPlace(flags),
      file: parseBackupFile(file),
      keep: flags.parse("--keep", (text, flag) => parseInteger(text, flag, { min: 1, max: 1000 })),
    }),
  );
}
