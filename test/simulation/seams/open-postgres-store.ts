/** Replaces `service/store/postgres/open-postgres-store.ts`; see `open-sqlite-store.ts` here. */
import { openPostgresStore as open } from "../../../src/service/store/postgres/open-postgres-store.ts";
import type { Store } from "../../../src/service/domain/ports.ts";

export * from "../../../src/service/store/postgres/open-postgres-store.ts";

const DAY_SECONDS = 86_400;

export async function openPostgresStore(...args: Parameters<typeof open>): Promise<Store> {
  return { ...(await open(...args)), pollSeconds: DAY_SECONDS };
}
