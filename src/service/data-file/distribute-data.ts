import type { Distribution } from "../store/postgres/distribute.ts";
import { refuseServed } from "./move-store.ts";
import { type DatabaseChoice, type DataFileOptions, openData } from "./open-data-file.ts";

/** Throws StoreDatabaseError, or FileChoiceError if a server is using the database. */
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
