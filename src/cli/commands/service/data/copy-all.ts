import type { CopiedStore, CopyStoreOptions } from "../../../../service/data-file/move-store.ts";
import { asCliError } from "../../../kit/data/data-file-errors.ts";
import type { DataPlace } from "../../../kit/data/data-place.ts";
import type { Deps } from "../../../kit/deps.ts";
import { watchLock } from "../../../kit/notes.ts";
import { createProgress } from "../../../kit/progress.ts";
import { toShellWord } from "../../../render/safe-text.ts";

export async function copyAll<Copied>(
  deps: Deps,
  copy: (options: CopyStoreOptions) => Promise<Copied>,
  places: Pick<CopyStoreOptions, "from" | "to" | "fromDatabase" | "toDatabase">,
): Promise<Copied> {
  const { clock, random, signal } = deps;
  const progress = createProgress(deps, "rows");
  const onRows = (rows: number): Promise<void> => progress.update(rows);
  const options = { ...places, clock, random, signal, onRows, watch: watchLock(deps) };
  try {
    return await asCliError(() => copy(options));
  } finally {
    await progress.end();
  }
}

export function rowsOf(tables: CopiedStore["tables"]): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}

export function pausedUntil(kind: DataPlace["kind"], name: string): string {
  const flag = kind === "database" ? "--database" : "--data";
  return `No survey is sent until: surveyctl service resume ${flag} ${toShellWord(name)}`;
}
