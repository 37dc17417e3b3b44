import { createHash } from "node:crypto";
import type { CheckReport } from "./check/check.ts";
import type { RowSource } from "./journal/decide-rows.ts";
import { createLineNumbers } from "./table/line-numbers.ts";

/** Draws rows by a hash, so the same file gives the same rows. `share` is from 0 to 1. */
export function drawSample(
  { sendable, end, modeAt, reasonToSkip }: CheckReport,
  share: number,
  seed: string,
): Pick<RowSource, "skip"> & { readonly rows: number } {
  const rows = sendable === 0 ? 0 : Math.max(1, Math.round(sendable * share));
  const drawn = createLineNumbers(Uint8Array);
  let [left, wanted] = [sendable, rows];
  for (let line = 1; line < end; line += 1) {
    if (modeAt(line) === null || reasonToSkip(line) !== null) continue;
    // Selection sampling: selects exactly `rows` rows.
    if (hashFraction(`${seed} ${line}`) * left < wanted) {
      drawn.set(line, 1);
      wanted -= 1;
    }
    left -= 1;
  }
  return { rows, skip: (line) => reasonToSkip(line) ?? (drawn.get(line) === 1 ? null : "not in the sample") };
}

function hashFraction(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE(0) / 2 ** 32;
}
