/** In place of `service/store/postgres/connections.ts`: a pool whose statements meet the world's faults. */
import type { Pool } from "pg";
import type { DatabaseTarget } from "../../../src/service/store/postgres/connections.ts";
import { createWatchedPool } from "../database/watched-pool.ts";
import { seams } from "./seams.ts";

export * from "../../../src/service/store/postgres/connections.ts";

export function openPool({ config }: DatabaseTarget): Pool {
  const { pool, kill } = createWatchedPool(config, seams.database());
  // As the service's own does.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => void client.on("error", () => undefined));
  seams.opened(kill);
  return pool;
}
