import type { Clock } from "../../runtime/clock.ts";
import { resolveFile } from "../../runtime/files/file-replacement.ts";
import type { Random } from "../../runtime/random.ts";
import type { Store, StoreWatch } from "../domain/ports.ts";
import type { OpenMarks } from "../store/sql/store-marks.ts";
import { openSqliteStore } from "../store/sqlite/open-sqlite-store.ts";
import type { StoreEvent } from "../store/store-errors.ts";
import { removeAbandonedCopies } from "./backup.ts";

export interface DatabaseChoice {
  readonly url: string;
  readonly mayMigrate: boolean;
  /** False refuses an empty database. Defaults to true. */
  readonly mayCreate?: boolean;
  /** Which clock timestamps writes. Defaults to the database's, which all processes share. */
  readonly time?: "database" | "clock";
}

export interface DataFileOptions extends StoreWatch, OpenMarks {
  readonly dataFile: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly database?: DatabaseChoice | null;
  readonly onEvent?: (event: StoreEvent) => void;
  readonly appUrl?: () => string;
  readonly onWebhookEvent?: () => void;
}

export async function openData(options: DataFileOptions): Promise<Store> {
  const { database = null } = options;
  if (database === null) return openDataFile(options);
  const { openPostgresStore } = await import("../store/postgres/open-postgres-store.ts");
  return openPostgresStore({ ...options, ...database });
}

export async function openDataFile({ dataFile, ...options }: DataFileOptions): Promise<Store> {
  // A killed restore may have left a copy with personal data. If that can't be removed, the store opens anyway.
  await removeAbandonedCopies(resolveFile(dataFile), options.random).catch(() => undefined);
  return openSqliteStore({ ...options, file: dataFile });
}
