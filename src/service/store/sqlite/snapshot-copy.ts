import { rm } from "node:fs/promises";
import type { Clock } from "../../../runtime/clock.ts";
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
  readonly target: string;
  readonly random: Random;
  readonly clock: Pick<Clock, "monotonic">;
}

/** Returns what the copy contains. If it can't be written, rejects and leaves no file behind. */
export async function copySnapshot({ file, target, ...options }: CopyOptions): Promise<StoreContents> {
  makeNewFile(target);
  try {
    await copyFrom(file, target);
    markAsCopy(target);
    return await countIn(target, options);
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
}

/** Prepares no statement, because the optional package keeps a database open until its statements are collected. */
async function copyFrom(file: string, target: string): Promise<void> {
  const engine = await openEngine(file);
  try {
    // The open transaction keeps concurrent writes in the log, outside the snapshot.
    engine.exec("BEGIN; SELECT 1 FROM projects LIMIT 1");
    await engine.copyTo(target);
    engine.exec("ROLLBACK");
  } catch (error) {
    throw translateSqliteError(error);
  } finally {
    engine.close();
  }
}

async function countIn(copy: string, options: Pick<CopyOptions, "clock" | "random">): Promise<StoreContents> {
  const database = createDatabase(await openEngine(copy));
  try {
    const rows = createStoreRows(toDatabase(database), {
      ...options,
      isNoted: { value: false },
      appUrl: () => "",
      onWebhookEvent: () => undefined,
    });
    return await countContents(rows.begin(writeTime(0, 0)));
  } finally {
    database.close();
  }
}
