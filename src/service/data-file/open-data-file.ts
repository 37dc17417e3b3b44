/** Opening a data file that another process may be using. */
import type { Clock } from "../../runtime/clock.ts";
import { resolveFile } from "../../runtime/files/file-replacement.ts";
import type { Random } from "../../runtime/random.ts";
import { type ControlRecord, readControlFile } from "../control/control-file.ts";
import type { Store, StoreWatch } from "../domain/ports.ts";
import type { StoreOpening } from "../store/sql/store-marks.ts";
import { openSqliteStore } from "../store/sqlite/open-sqlite-store.ts";
import { StoreBusyError, type StoreEvent } from "../store/store-errors.ts";
import { removeAbandonedCopies } from "./backup.ts";

/** A server runs on this data file already. */
export class AlreadyServedError extends Error {
  override readonly name = "AlreadyServedError";
  readonly record: ControlRecord;

  constructor(file: string, record: ControlRecord, options?: ErrorOptions) {
    super(`${file} is already served at ${record.address} (process ${record.pid})`, options);
    this.record = record;
  }
}

/** A server that keeps the data. */
export interface DatabaseChoice {
  readonly url: string;
  /** False: an older schema is refused. */
  readonly mayMigrate: boolean;
  /** Where the time of writes comes from; absent: the server, one clock for all processes. */
  readonly time?: "database" | "clock";
}

export interface DataFileOptions extends StoreWatch, StoreOpening {
  readonly dataFile: string;
  readonly clock: Clock;
  readonly random: Random;
  /** In place of the file. */
  readonly database?: DatabaseChoice | null;
  readonly onEvent?: (event: StoreEvent) => void;
  /** See `SqliteStoreOptions`. */
  readonly appUrl?: () => string;
  readonly onWebhookEvent?: () => void;
}

/** Commands that open the file themselves are done with it soon. */
const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = 50;

/** Opens the data file, or the database. Loads what speaks to a server only where one is named. */
export async function openData(options: DataFileOptions): Promise<Store> {
  const { database = null } = options;
  if (database === null) return openDataFile(options);
  const { openPostgresStore } = await import("../store/postgres/open-postgres-store.ts");
  return openPostgresStore({ ...options, ...database });
}

/**
 * Opens the store as soon as short-lived owners are done with it. Of several that try at once one gets it.
 * Throws AlreadyServedError when a server owns it, StoreBusyError when another process keeps it.
 */
export async function openDataFile({ dataFile, ...options }: DataFileOptions): Promise<Store> {
  const { clock } = options;
  // The copy that a killed restore left holds people's data. A file that cannot be removed keeps nobody from the store.
  const onOwned = (): Promise<void> =>
    removeAbandonedCopies(resolveFile(dataFile), options.random).catch(() => undefined);
  const startedMs = clock.monotonic();
  for (;;) {
    try {
      return await openSqliteStore({ ...options, file: dataFile, onOwned });
    } catch (error) {
      if (!(error instanceof StoreBusyError)) throw error;
      const record = await readControlFile(dataFile);
      if (record !== null && record.pid === error.pid) throw new AlreadyServedError(dataFile, record, { cause: error });
      if (clock.monotonic() - startedMs > PATIENCE_MS) throw error;
      await clock.sleep(LOOK_AGAIN_MS);
    }
  }
}
