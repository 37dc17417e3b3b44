/** Marks that keep a store from being opened: its data is elsewhere, or incomplete. */
import type { Store, StoreMark } from "../../domain/ports.ts";

export interface OpenMarks {
  /** The command that fills the store. Others can't open it until the mark is removed. */
  readonly filledBy?: string;
  readonly movedTo?: string;
}

/** Marks a store as being filled if it has no projects; the parameter is the command that fills it. */
export const MARK_EMPTY = `INSERT INTO store_marks (name, value) SELECT 'filling', ?
  WHERE NOT EXISTS (SELECT 1 FROM projects)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

export const READ_MARKS = "SELECT name, value FROM store_marks WHERE name IN ('filling', 'moved')";

export interface MarkRefusal {
  readonly trouble: "moved" | "unfinished";
  readonly message: string;
}

export function refusalByMarks(
  rows: readonly Readonly<Record<string, unknown>>[],
  { filledBy, movedTo }: OpenMarks,
): MarkRefusal | null {
  const valueOf = (mark: StoreMark): string | null => {
    const row = rows.find(({ name }) => name === mark);
    return row === undefined ? null : String(row["value"]);
  };
  const [filling, moved] = [valueOf("filling"), valueOf("moved")];
  if (filling !== null && filledBy === undefined)
    return { trouble: "unfinished", message: `the ${filling} has not ended; run that command again` };
  // Anything written here would be missing from the moved data.
  if (moved !== null && moved !== movedTo)
    return { trouble: "moved", message: `the data was moved to ${moved}; use that` };
  return null;
}

export async function keepMark(store: Store, mark: StoreMark, value: string | null): Promise<void> {
  if ((await store.read((tx) => tx.tables.mark(mark))) === value) return;
  await store.write((tx) => tx.tables.setMark(mark, value), { project: "none" });
}
