/** Draws a random share of a file's rows; the seed is the file's hash, so the same file gives the same rows. */
import { createHash } from "node:crypto";
import type { RowSource } from "./journal/decide-rows.ts";
import { createLineNumbers } from "./table/line-numbers.ts";

export interface RowSample {
  readonly skip: RowSource["skip"];
  readonly rows: number;
}

/** At least one row if there is any. `share` is from 0 to 1. Reads the file twice. */
export async function drawSample(source: RowSource, share: number): Promise<RowSample> {
  let all = 0;
  for await (const _ of rowsToSend(source)) all += 1;
  const rows = all === 0 ? 0 : Math.max(1, Math.round(all * share));
  const drawn = createLineNumbers(Uint8Array);
  const seed = source.table.input.sha256 ?? "";
  let [left, wanted] = [all, rows];
  for await (const line of rowsToSend(source)) {
    // Each row's chance is that of the draws that are left among the rows that are left: exactly as many are drawn.
    if (fractionOf(`${seed} ${line}`) * left < wanted) {
      drawn.set(line, 1);
      wanted -= 1;
    }
    left -= 1;
  }
  return { rows, skip: (row) => source.skip(row) ?? (drawn.get(row.line) === 1 ? null : "not in the sample") };
}

function fractionOf(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE(0) / 2 ** 32;
}

async function* rowsToSend({ table, skip }: RowSource): AsyncGenerator<number> {
  for await (const batch of table.rows())
    for (const row of batch) if (!("problems" in row) && skip(row) === null) yield row.line;
}
