/** The rows that previous runs have not sent, handed over to an import of their own: each row stays in one of the two. */
import { createLineNumbers } from "../table/line-numbers.ts";
import { decideRows, type RowSource, type RowToSend } from "./decide-rows.ts";
import type { Journal } from "./journal.ts";

export interface UnsentRows {
  readonly rows: number;
  readonly has: (line: number) => boolean;
  /** Rows that may have been sent and are not among them. */
  readonly doubtful: number;
}

export async function findUnsent(source: RowSource): Promise<UnsentRows> {
  const lines = createLineNumbers(Uint8Array);
  let rows = 0;
  let doubtful = 0;
  for await (const decision of decideRows(source)) {
    if (decision.kind !== "send") continue;
    if (isUnsent(decision.row)) {
      lines.set(decision.row.line, 1);
      rows += 1;
    } else doubtful += 1;
  }
  return { rows, doubtful, has: (line) => lines.get(line) === 1 };
}

/** No byte of it has left, or the service refused it and nothing came before that. */
function isUnsent({ previousIntentAt, wasUnknown, noRepeat }: RowToSend): boolean {
  return previousIntentAt === null && !wasUnknown && !noRepeat;
}

/** Gives them the outcome `skipped`, so that no run of this journal sends them; `reason` says where they are. */
export async function handOver(source: RowSource, journal: Journal, reason: string): Promise<void> {
  let writing: Promise<void>[] = [];
  for await (const decision of decideRows(source)) {
    if (decision.kind !== "send" || !isUnsent(decision.row)) continue;
    const { line, identifier } = decision.row;
    const outcome = { outcome: "skipped", personId: null, surveyScheduledAt: null, error: reason } as const;
    writing.push(journal.write({ done: { line, identifier, ...outcome } }));
    if (writing.length < BATCH) continue;
    await Promise.all(writing);
    writing = [];
  }
  await Promise.all(writing);
}

const BATCH = 1000;
