/**
 * In place of `service/store/sqlite/open-sqlite-store.ts`: the simulated machine runs one process at a time, which need not
 * look every other second for what others have done.
 */
import { openSqliteStore as open } from "../../../src/service/store/sqlite/open-sqlite-store.ts";
import type { Store } from "../../../src/service/domain/ports.ts";

export * from "../../../src/service/store/sqlite/open-sqlite-store.ts";

export async function openSqliteStore(...args: Parameters<typeof open>): Promise<Store> {
  return { ...(await open(...args)), isShared: false };
}
