/** Copies of the whole store: `backup`, `restore` and `move`; and `vacuum`, which makes it smaller. */
import { statSync } from "node:fs";
import type { Command } from "commander";
import type { MadeBackup } from "../../../../service/data-file/backup.ts";
import type { StoreContents } from "../../../../service/domain/ports.ts";
import type { CopiedStore, CopyStoreOptions } from "../../../../service/data-file/move-store.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import { parseInteger, parseOutputFile } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { asCliError } from "../../../command/data-file-errors.ts";
import {
  chooseServicePlace,
  DATA_FLAG,
  DATA_FLAGS,
  DATABASE_FLAGS,
  type DataFileChoice,
  readPlace,
  refuseMemory,
  showDatabase,
} from "../../../command/data-place.ts";
import type { Deps } from "../../../command/deps.ts";
import { countOf, formatCount, watchLock, writeDone, writeNote, writeWarning } from "../../../command/notes.ts";
import { createProgress } from "../../../command/progress.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { toShellWord } from "../../../render/safe-text.ts";
import { existingDataFile, rejectDryRun, showList, showRecord, tellPlace, withAdmin } from "./data-file.ts";
import { BACKUP, MOVED_TABLES, RESTORED, VACUUMED } from "../service-resources.ts";
import { checkColumns } from "../../../render/record-output.ts";

export interface BackupFlags extends DataFileChoice {
  readonly file: string;
  /** The number of backups to keep; null refuses a file that is there. */
  readonly keep: number | null;
}

/** Smaller files are copied and checked before anybody wonders. */
const NOTED_BYTES = 200_000_000;
/** Of copying and checking, and of rewriting, on a slow machine. */
const CHECKED_A_SECOND = 30_000_000;
const REWRITTEN_A_SECOND = 30_000_000;

export async function runBackup(deps: Deps, { data, file, keep }: BackupFlags): Promise<ExitCode> {
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
  const progress = createProgress(deps, "rows", false);
  const source = { from: showDatabase(url), fromDatabase: { url, mayMigrate: false }, clock, random, signal };
  const onRows = (rows: number): Promise<void> => progress.update(rows);
  try {
    const copy = (to: string): Promise<StoreContents> => copyDatabase({ ...source, to, onRows });
    return await asCliError(() => backUp({ ...target, copy, dataFile: null, random, signal, watch: watchLock(deps) }));
  } finally {
    await progress.end();
  }
}

interface Work {
  readonly verb: string;
  readonly perSecond: number;
}

async function noteDuration(deps: Deps, dataFile: string, { verb, perSecond }: Work): Promise<void> {
  const { size } = statSync(dataFile);
  if (size < NOTED_BYTES) return;
  const seconds = Math.ceil(size / perSecond);
  await writeNote(deps, `${verb} ${formatCount(Math.round(size / 1e6))} MB takes about ${seconds} s`);
}

export interface RestoreFlags extends DataFileChoice {
  readonly file: string;
}

export async function runRestore(deps: Deps, { data, file }: RestoreFlags): Promise<ExitCode> {
  checkColumns(deps, RESTORED);
  rejectDryRun(deps);
  const place = await chooseServicePlace(deps, await tellPlace(deps, { data }));
  const isDatabase = place.kind === "database";
  const to = isDatabase ? showDatabase(place.url) : place.dataFile;
  const toDatabase = isDatabase ? { url: place.url, mayMigrate: true } : null;
  const { restoreStore } = await import("../../../../service/data-file/move-store.ts");
  const { tables, later, ...restored } = await copyAll(deps, restoreStore, { from: file, to, toDatabase });
  await showRecord(deps, RESTORED, { data: to, rows: rowsOf(tables), ...restored });
  for (const reason of later.unread) await writeWarning(deps, reason);
  if (later.erased > 0)
    await writeNote(deps, `left out ${countOf(later.erased, "person", "people")} erased after the backup was made`);
  await writeDone(deps, `Restored ${file} into ${to}. ${pausedUntil(to, isDatabase ? "--database" : "--data")}`);
  return EXIT.done;
}

export interface MoveFlags extends DataFileChoice {
  readonly to: string;
}

export async function runMove(deps: Deps, { data, to }: MoveFlags): Promise<ExitCode> {
  checkColumns(deps, MOVED_TABLES);
  rejectDryRun(deps);
  const place = await chooseServicePlace(deps, await tellPlace(deps, { data }));
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
  return EXIT.done;
}

async function copyAll<Copied>(
  deps: Deps,
  copy: (options: CopyStoreOptions) => Promise<Copied>,
  places: Pick<CopyStoreOptions, "from" | "to" | "fromDatabase" | "toDatabase">,
): Promise<Copied> {
  const { clock, random, signal } = deps;
  const progress = createProgress(deps, "rows", false);
  const onRows = (rows: number): Promise<void> => progress.update(rows);
  const options = { ...places, clock, random, signal, onRows, watch: watchLock(deps) };
  try {
    return await asCliError(() => copy(options));
  } finally {
    await progress.end();
  }
}

function rowsOf(tables: CopiedStore["tables"]): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}

function pausedUntil(place: string, flag: string): string {
  return `No survey is sent until: surveyctl service resume ${flag} ${toShellWord(place)}`;
}

export async function runVacuum(deps: Deps, choice: DataFileChoice): Promise<ExitCode> {
  checkColumns(deps, VACUUMED);
  const sizes = await withAdmin(deps, choice, async (admin) => {
    const verb = "nothing can be saved meanwhile: rewriting";
    const place = await chooseServicePlace(deps, choice);
    if (place.kind === "file") await noteDuration(deps, place.dataFile, { verb, perSecond: REWRITTEN_A_SECOND });
    return admin({ kind: "vacuum" });
  });
  await showRecord(deps, VACUUMED, sizes);
  return EXIT.done;
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
  registerRestore(parent, context);
  registerMove(parent, context);
  const vacuum = context.verb(parent, {
    name: "vacuum",
    summary: "give the space of deleted rows back to the disk",
    examples: ["surveyctl service vacuum --data survey.db", "surveyctl service vacuum --json"],
    exits: [EXIT.done, EXIT.failed],
    flags: DATA_FLAGS,
    columns: VACUUMED,
  });
  context.action(vacuum, (deps, flags) => runVacuum(deps, { data: readPlace(flags) }));
}

function registerRestore(parent: Command, context: CommandContext): void {
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

function isUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(text);
}

/** A URL may hold a password, so it is not repeated. */
function parseTarget(text: string, place: string): string {
  if (isUrl(text)) return text;
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) throw new UsageError(`${place} must be a data file or a postgres:// URL`);
  refuseMemory(text, place);
  return parseOutputFile(text, place);
}

function registerMove(parent: Command, context: CommandContext): void {
  const move = context.verb(parent, {
    name: "move",
    summary: "move all data to another, empty store, and compare every table",
    examples: [
      "surveyctl service move --to /srv/survey.db --data survey.db",
      "surveyctl service move --to postgres://surveys@db.internal/surveys -o json",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.interrupted, EXIT.terminated],
    flags: [
      { ...DATA_FLAG, text: "data file to move; it must not be served" },
      ...DATABASE_FLAGS,
      { flag: "--to", value: "place", text: "empty data file, or one not there yet, or URL of an empty database" },
    ],
    columns: MOVED_TABLES,
  });
  context.action(move, (deps, flags) => {
    const to = flags.parse("--to", parseTarget);
    if (to === null) throw new UsageError("--to is required");
    return runMove(deps, { data: readPlace(flags), to });
  });
}
