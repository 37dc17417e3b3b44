/** Opening a data file or a database, which other processes may use as well. */
import type { Clock } from "../../runtime/clock.ts";
import { resolveFile } from "../../runtime/files/file-replacement.ts";
import type { Random } from "../../runtime/random.ts";
import type { Store, StoreWatch } from "../domain/ports.ts";
import type { StoreOpening } from "../store/sql/store-marks.ts";
import { openSqliteStore } from "../store/sqlite/open-sqlite-store.ts";
import type { StoreEvent } from "../store/store-errors.ts";
import { removeAbandonedCopies } from "./backup.ts";

/** A server that keeps the data. */
export interface DatabaseChoice {
  readonly url: string;
  /** False: an older schema is refused. */
  readonly mayMigrate: boolean;
  /** False: an empty database is refused. Absent: true. */
  readonly mayCreate?: boolean;
  /** The clock of writes; absent: the server's, one clock for all processes. */
  readonly time?: "database" | "clock";
}

export interface DataFileOptions extends StoreWatch, StoreOpening {
  readonly dataFile: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly database?: DatabaseChoice | null;
  readonly onEvent?: (event: StoreEvent) => void;
  readonly appUrl?: () => string;
  readonly onWebhookEvent?: () => void;
}

/** Opens the data file, or the database. Loads what speaks to a server only where one is named. */
export async function openData(options: DataFileOptions): Promise<Store> {
  const { database = null } = options;
  if (database === null) return openDataFile(options);
  const { openPostgresStore } = await import("../store/postgres/open-postgres-store.ts");
  return openPostgresStore({ ...options, ...database });
}

export async function openDataFile({ dataFile, ...options }: DataFileOptions): Promise<Store> {
  // The copy that a killed restore left holds people's data. A file that cannot be removed keeps nobody from the store.
  await removeAbandonedCopies(resolveFile(dataFile), options.random).catch(() => undefined);
  return openSqliteStore({ ...options, file: dataFile });
}
