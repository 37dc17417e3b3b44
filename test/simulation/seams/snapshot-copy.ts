/**
 * Replaces `service/store/sqlite/snapshot-copy.ts`. SQLite in WebAssembly can't open a file twice, so the bytes are
 * copied.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { StoreContents } from "../../../src/service/domain/ports.ts";
import { writeTime } from "../../../src/service/domain/write-time.ts";
import { countContents } from "../../../src/service/domain/moving/moving.ts";
import { createStoreRows } from "../../../src/service/store/sql/store-rows.ts";
import { closeFile, makeNewFile, markAsCopy } from "../../../src/service/store/sqlite/engine/data-file.ts";
import { createDatabase, toDatabase } from "../../../src/service/store/sqlite/engine/database.ts";
import { openEngine } from "../../../src/service/store/sqlite/engine/engine.ts";
import type { CopyOptions } from "../../../src/service/store/sqlite/snapshot-copy.ts";

const LOG = "-wal";

export async function copySnapshot({ file, target, ...options }: CopyOptions): Promise<StoreContents> {
  makeNewFile(target);
  try {
    for (const suffix of ["", LOG].filter((one) => existsSync(file + one)))
      writeFileSync(target + suffix, readFileSync(file + suffix));
    const database = createDatabase(await openEngine(target));
    const rows = createStoreRows(toDatabase(database), {
      ...options,
      isNoted: { value: false },
      appUrl: () => "",
      onWebhookEvent: () => undefined,
    });
    const contents = await countContents(rows.begin(writeTime(0, 0)));
    closeFile(database);
    markAsCopy(target);
    return contents;
  } catch (error) {
    for (const suffix of ["", LOG]) rmSync(target + suffix, { force: true });
    throw error;
  }
}
