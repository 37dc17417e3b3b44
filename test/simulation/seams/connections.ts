/** Replaces `service/store/postgres/connections.ts` with a pool whose statements can meet faults. */
import type { Pool } from "pg";
import type { DatabaseTarget } from "../../../src/service/store/postgres/connections.ts";
import { createWatchedPool } from "../database/watched-pool.ts";
import { seams } from "./seams.ts";

export * from "../../../src/service/store/postgres/connections.ts";

export function openPool({ config }: DatabaseTarget): Pool {
  const { pool, kill } = createWatchedPool(config, seams.database());
  // The real pool does the same.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => void client.on("error", () => undefined));
  seams.opened(kill);
  return pool;
}
