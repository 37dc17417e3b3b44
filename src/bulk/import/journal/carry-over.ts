/** Moves a run's journal entries to the same rows' lines in a later version of the file. */
import { rowKey } from "../check/identities.ts";
import { createLineNumbers, type LineNumbers } from "../table/line-numbers.ts";
import { decideRows, type RowSource } from "./decide-rows.ts";
import { formatEntry, type JournalEntry, type JournalHead, readJournalLines } from "./journal-entry.ts";
import { JournalState } from "./journal-state.ts";

export interface CarriedOver {
  readonly before: JournalState;
  readonly text: () => AsyncGenerator<string>;
  readonly missing: number;
  readonly fresh: number;
}

const GONE = 2 ** 32 - 1;

export async function carryOver(journal: string, head: JournalHead, source: RowSource): Promise<CarriedOver> {
  const rows = new Map<string, number>();
  for await (const decision of decideRows(source))
    if (decision.kind === "send") rows.set(rowKey(source.table.kind, decision.row), decision.row.line);
  const newLines = createLineNumbers(Uint32Array);
  let missing = 0;
  for await (const entry of readEntries(journal)) {
    if (!("intent" in entry)) continue;
    for (const [index, line] of entry.intent.entries()) {
      if (newLines.get(line) !== 0) continue;
      const key = entry.keys?.[index] ?? "";
      newLines.set(line, rows.get(key) ?? GONE);
      if (!rows.delete(key)) missing += 1;
    }
  }
  const before = new JournalState();
  for await (const entry of movedEntries(journal, head, newLines))
    before.take(entry, before.length + Buffer.byteLength(toLine(entry)));
  return {
    before,
    async *text() {
      for await (const entry of movedEntries(journal, head, newLines)) yield toLine(entry);
    },
    missing,
    fresh: rows.size,
  };
}

function toLine(entry: JournalEntry): string {
  return `${formatEntry(entry)}\n`;
}

async function* readEntries(journal: string): AsyncGenerator<JournalEntry> {
  for await (const batch of readJournalLines(journal)) for (const { entry } of batch) yield entry;
}

async function* movedEntries(journal: string, head: JournalHead, newLines: LineNumbers): AsyncGenerator<JournalEntry> {
  yield { head };
  const isKept = (line: number): boolean => newLines.get(line) !== 0 && newLines.get(line) !== GONE;
  const move = (lines: readonly number[]): number[] => lines.filter(isKept).map((line) => newLines.get(line));
  for await (const entry of readEntries(journal))
    if ("intent" in entry) {
      const keys = entry.keys?.filter((_, index) => isKept(entry.intent[index] ?? 0)) ?? [];
      yield { ...entry, intent: move(entry.intent), keys };
    } else if ("unsent" in entry) yield { ...entry, unsent: move(entry.unsent) };
    else if ("noRepeat" in entry) yield { noRepeat: move(entry.noRepeat) };
    else if ("done" in entry && isKept(entry.done.line))
      yield { done: { ...entry.done, line: newLines.get(entry.done.line) } };
}
