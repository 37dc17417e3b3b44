/** Marks of a store as a whole, by which it refuses to open: its data is elsewhere, or not yet all here. */
import type { StoreMark } from "../../domain/ports.ts";

export interface StoreOpening {
  /** The command that fills the store: an empty one refuses all others from then on, until the mark is taken away. */
  readonly filledBy?: string;
  /** Opens also a store whose data was moved to this place. */
  readonly movedTo?: string;
}

/** Marks a store that has no project; its parameter is the command that fills it. */
export const MARK_EMPTY = `INSERT INTO store_marks (name, value) SELECT 'filling', ?
  WHERE NOT EXISTS (SELECT 1 FROM projects)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

export const READ_MARKS = "SELECT name, value FROM store_marks WHERE name IN ('filling', 'moved')";

export interface MarkRefusal {
  readonly trouble: "moved" | "unfinished";
  readonly message: string;
}

/** Null for a store that may be opened so. `rows` are those of `READ_MARKS`. */
export function refusalByMarks(
  rows: readonly Readonly<Record<string, unknown>>[],
  { filledBy, movedTo }: StoreOpening,
): MarkRefusal | null {
  const valueOf = (mark: StoreMark): string | null => {
    const row = rows.find(({ name }) => name === mark);
    return row === undefined ? null : String(row["value"]);
  };
  const [filling, moved] = [valueOf("filling"), valueOf("moved")];
  if (filling !== null && filledBy === undefined)
    return { trouble: "unfinished", message: `the ${filling} has not ended; run that command again` };
  // A write here would be missing where the data is now.
  if (moved !== null && moved !== movedTo)
    return { trouble: "moved", message: `the data was moved to ${moved}; use that` };
  return null;
}
