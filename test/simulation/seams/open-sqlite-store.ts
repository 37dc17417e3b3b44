/**
 * Replaces `service/store/sqlite/open-sqlite-store.ts`. Only one process runs at a time, so it needn't check every two
 * seconds for changes by others.
 */
import { openSqliteStore as open } from "../../../src/service/store/sqlite/open-sqlite-store.ts";
import type { Store } from "../../../src/service/domain/ports.ts";

export * from "../../../src/service/store/sqlite/open-sqlite-store.ts";

const DAY_SECONDS = 86_400;

export async function openSqliteStore(...args: Parameters<typeof open>): Promise<Store> {
  return { ...(await open(...args)), pollSeconds: DAY_SECONDS };
}
