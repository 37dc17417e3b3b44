/** Health of the servers on a data file or database. Separate from `health.ts`, which every health check loads. */
import type { Clock } from "../runtime/clock.ts";
import type { Random } from "../runtime/random.ts";
import { type DataFileOptions, openData } from "./data-file/open-data-file.ts";
import type { Unready } from "./health.ts";
import { livingProcesses } from "./sending/heartbeat.ts";

/** Returns null if a server is using the data. A killed server still counts for 30 seconds. */
export async function askData(
  choice: Pick<DataFileOptions, "dataFile" | "database">,
  clock: Clock,
  random: Random,
): Promise<Unready> {
  const store = await openData({ ...choice, clock, random });
  try {
    return (await livingProcesses(store)).length > 0 ? null : "is not running";
  } finally {
    await store.close();
  }
}
