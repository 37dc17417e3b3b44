import type { Distribution } from "../store/postgres/distribute.ts";
import { refuseServed } from "./move-store.ts";
import { type DatabaseChoice, type DataFileOptions, openData } from "./open-data-file.ts";

/**
 * Updates the schema of a database and spreads its tables over a Citus cluster. Throws StoreDatabaseError, and
 * FileChoiceError if it is served.
 */
export async function distributeData(
  options: DataFileOptions & { readonly database: DatabaseChoice },
): Promise<Distribution> {
  const { distributeDatabase } = await import("../store/postgres/distribute.ts");
  return distributeDatabase(options.database.url, async () => {
    const store = await openData(options);
    try {
      await refuseServed(store, options.dataFile);
    } finally {
      await store.close();
    }
  });
}
