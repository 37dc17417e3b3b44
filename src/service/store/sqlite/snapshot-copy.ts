/** A copy of a data file as it is at one moment, made while processes read and write it. */
import { rm } from "node:fs/promises";
import type { Random } from "../../../runtime/random.ts";
import { countContents } from "../../domain/moving/moving.ts";
import type { StoreContents } from "../../domain/ports.ts";
import { writeTime } from "../../domain/write-time.ts";
import { createStoreRows } from "../sql/store-rows.ts";
import { makeNewFile, markAsCopy } from "./engine/data-file.ts";
import { createDatabase, toDatabase } from "./engine/database.ts";
import { openEngine } from "./engine/engine.ts";
import { translateSqliteError } from "./engine/sqlite-errors.ts";

export interface CopyOptions {
  readonly file: string;
  /** Not there yet. */
  readonly target: string;
  readonly random: Random;
}

/**
 * Resolves with what the copy holds, and rejects with the system's error when it cannot be written; then there is none.
 */
export async function copySnapshot({ file, target, random }: CopyOptions): Promise<StoreContents> {
  makeNewFile(target);
  try {
    await copyFrom(file, target);
    markAsCopy(target);
    return await countIn(target, random);
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
}

/**
 * The connection has a transaction, so that what is written meanwhile goes to the log behind its moment. It prepares no
 * statement: the optional package keeps a database open until its statements are collected.
 */
async function copyFrom(file: string, target: string): Promise<void> {
  const engine = await openEngine(file);
  try {
    engine.exec("BEGIN; SELECT 1 FROM projects LIMIT 1");
    await engine.copyTo(target);
    engine.exec("ROLLBACK");
  } catch (error) {
    throw translateSqliteError(error);
  } finally {
    engine.close();
  }
}

async function countIn(copy: string, random: Random): Promise<StoreContents> {
  const database = createDatabase(await openEngine(copy));
  try {
    const rows = createStoreRows(toDatabase(database), {
      random,
      isNoted: { value: false },
      appUrl: () => "",
      onWebhookEvent: () => undefined,
    });
    return await countContents(rows.begin(writeTime(0, 0)));
  } finally {
    database.close();
  }
}
