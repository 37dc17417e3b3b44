/** Whether a service takes work on a database. Apart from `health.ts`, which needs no store and is loaded by every check. */
import type { Clock } from "../runtime/clock.ts";
import type { Random } from "../runtime/random.ts";
import { openData } from "./data-file/open-data-file.ts";
import type { Unready } from "./health.ts";
import { livingProcesses } from "./scheduler/heartbeat.ts";

/**
 * Asks the database for the services that run on it: one that was killed counts for half a minute. Throws
 * StoreDatabaseError for a database that cannot be served.
 */
export async function askDatabase(url: string, clock: Clock, random: Random): Promise<Unready> {
  const store = await openData({ dataFile: "", database: { url, mayMigrate: false }, clock, random });
  try {
    return (await livingProcesses(store)).length > 0 ? null : "is not running";
  } finally {
    await store.close();
  }
}
