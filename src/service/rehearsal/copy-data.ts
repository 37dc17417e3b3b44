/** Copies the data to another store without changing a byte of it. */
import { copyFile, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { administer } from "../data-file/administer.ts";
import { copyThrough } from "../data-file/backup.ts";
import { type DataFileOptions, openData } from "../data-file/open-data-file.ts";
import { copyRows } from "../domain/moving/moving.ts";
import type { Store } from "../domain/ports.ts";
import { markAsCopy } from "../store/sqlite/engine/data-file.ts";
import { openSqliteCopy } from "../store/sqlite/open-sqlite-store.ts";

export async function copyData(options: DataFileOptions, to: Store, signal: AbortSignal): Promise<void> {
  if ((options.database ?? null) !== null) return copyStore(await openData(options), to, signal);
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-rehearsal-"));
  try {
    const file = path.join(folder, "copy.db");
    await copyDataFile(options, file);
    await copyStore(await openSqliteCopy({ ...options, file }), to, signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** SQLite copies a served file, which has a WAL. Any other file is copied as is, because opening it would change it. */
async function copyDataFile(options: DataFileOptions, file: string): Promise<void> {
  const { dataFile } = options;
  const log = await stat(`${dataFile}-wal`).catch(() => null);
  if (log !== null && log.size > 0)
    return void (await administer(options, (_, store) => copyThrough(store, file)(file)));
  await copyFile(dataFile, file);
  markAsCopy(file);
}

async function copyStore(source: Store, to: Store, signal: AbortSignal): Promise<void> {
  const onPage = async (): Promise<void> => signal.throwIfAborted();
  try {
    await source.read((from) => to.write((tx) => copyRows(from, tx, onPage), { project: "all", isLong: true }), {
      isLong: true,
    });
  } finally {
    await source.close();
  }
}
