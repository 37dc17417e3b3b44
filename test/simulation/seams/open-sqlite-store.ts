/**
 * In place of `service/store/sqlite/open-sqlite-store.ts`: the simulated machine runs one process at a time, which need not
 * look every other second for what others have changed.
 */
import { openSqliteStore as open } from "../../../src/service/store/sqlite/open-sqlite-store.ts";
import type { Store } from "../../../src/service/domain/ports.ts";

export * from "../../../src/service/store/sqlite/open-sqlite-store.ts";

const DAY_SECONDS = 86_400;

export async function openSqliteStore(...args: Parameters<typeof open>): Promise<Store> {
  return { ...(await open(...args)), pollSeconds: DAY_SECONDS };
}
