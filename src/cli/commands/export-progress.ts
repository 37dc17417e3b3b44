/** How far an export is: a live line on a terminal, elsewhere a line every ten seconds. */
import type { Deps } from "../deps.ts";

export interface ExportProgress {
  /** The number of rows that are expected, once it is known. */
  expect(rows: number): void;
  update(rows: number): Promise<void>;
  /** Takes the live line away. */
  end(): Promise<void>;
}

const LIVE_MS = 100;
const PLAIN_MS = 10_000;
const CLEAR_LINE = "\r\u001b[2K";

export function createProgress({ streams, options, clock }: Deps, noun: string, toStdout: boolean): ExportProgress {
  // A live line among rows on the same terminal would be in their way.
  const live = streams.err.isTTY && !(toStdout && streams.out.isTTY);
  const began = clock.monotonic();
  let expected: number | null = null;
  let shown = false;
  let nextAt = began + (live ? LIVE_MS : PLAIN_MS);
  const line = (rows: number, elapsedMs: number): string => {
    const of = expected === null ? `${rows}` : `${rows} of ${Math.max(expected, rows)}`;
    return `${of} ${noun}, ${Math.round((rows * 1000) / elapsedMs)}/s`;
  };
  return {
    expect(rows) {
      expected = rows;
    },
    async update(rows) {
      const now = clock.monotonic();
      if (options.quiet || now < nextAt) return;
      nextAt = now + (live ? LIVE_MS : PLAIN_MS);
      shown = live;
      await streams.err.write(live ? CLEAR_LINE + line(rows, now - began) : `${line(rows, now - began)}\n`);
    },
    async end() {
      if (shown) await streams.err.write(CLEAR_LINE);
      shown = false;
    },
  };
}
