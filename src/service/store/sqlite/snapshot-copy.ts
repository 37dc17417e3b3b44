/** A copy of a data file as it is at one moment, made while processes read and write it. */
import { rm } from "node:fs/promises";
import type { Random } from "../../../runtime/random.ts";
import { countContents } from "../../domain/moving.ts";
import type { StoreContents } from "../../domain/ports.ts";
import { createStoreRows } from "../sql/store-rows.ts";
import { makeNewFile, markAsCopy } from "./engine/data-file.ts";
import { createDatabase, toDatabase } from "./engine/database.ts";
import { openEngine } from "./engine/engine.ts";

export interface CopyOptions {
  readonly file: string;
  /** Not there yet. */
  readonly target: string;
  readonly random: Random;
  /** Unix seconds. */
  readonly now: number;
}

/**
 * Reads in a transaction of a connection of its own: what is written meanwhile goes to the log behind its moment. Resolves
 * with what the copy holds, and rejects with the system's error when it cannot be written; then there is none.
 */
export async function copySnapshot({ file, target, random, now }: CopyOptions): Promise<StoreContents> {
  makeNewFile(target);
  try {
    const engine = await openEngine(file);
    const database = createDatabase(engine);
    try {
      database.exec("BEGIN");
      const rows = createStoreRows(toDatabase(database), {
        random,
        isShared: true,
        isNoted: { value: false },
        appUrl: () => "",
        onWebhookEvent: () => undefined,
      });
      const contents = await countContents(rows.begin(now));
      await engine.copyTo(target);
      database.exec("ROLLBACK");
      markAsCopy(target);
      return contents;
    } finally {
      database.close();
    }
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  }
}
