import type { QuietHours } from "../../surveys/quiet-hours.ts";
import type { Database } from "../../../sql/database.ts";

export async function readState(database: Database, name: string): Promise<unknown> {
  const row = await database.first("SELECT value FROM delivery_state WHERE name = ?", [name]);
  return row === null ? null : (JSON.parse(String(row.value)) as unknown);
}

export function writeState(database: Database, name: string, value: unknown): void {
  database.send(
    "INSERT INTO delivery_state (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    [name, JSON.stringify(value)],
  );
}

export const DAILY_LIMIT = "daily limit";
const QUIET_HOURS = "quiet hours";

export async function readQuietHours(database: Database): Promise<QuietHours | null> {
  return (await readState(database, QUIET_HOURS)) as QuietHours | null;
}

export function writeQuietHours(database: Database, hours: QuietHours | null): void {
  writeState(database, QUIET_HOURS, hours);
}
