/**
 * The health of services that run on the data. Apart from `health.ts`, which needs no store and is loaded by every
 * check.
 */
import type { Clock } from "../runtime/clock.ts";
import type { Random } from "../runtime/random.ts";
import { type DatabaseChoice, openData } from "./data-file/open-data-file.ts";
import type { Unready } from "./health.ts";
import { livingProcesses } from "./scheduler/heartbeat.ts";

export interface DataChoice {
  readonly dataFile: string;
  /** In place of the file. */
  readonly database: DatabaseChoice | null;
}

/**
 * Asks the data for the services that run on it: one that was killed counts for half a minute. Throws StoreFileError
 * and StoreDatabaseError for what cannot be served.
 */
export async function askData(choice: DataChoice, clock: Clock, random: Random): Promise<Unready> {
  const store = await openData({ ...choice, clock, random });
  try {
    return (await livingProcesses(store)).length > 0 ? null : "is not running";
  } finally {
    await store.close();
  }
}
