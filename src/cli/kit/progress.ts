/** Progress of bulk work: a live line on a terminal, otherwise a line every ten seconds. */
import type { Deps } from "./deps.ts";
import { formatCount } from "../../contract/text/count.ts";
import { type LiveLine, openLiveLine } from "./live-line.ts";
import type { Output } from "../streams/streams.ts";

export interface Progress {
  expect(rows: number): void;
  /** `earlier` rows were done before and don't count for the rate. */
  update(rows: number, earlier?: number): Promise<void>;
  end(): Promise<void>;
}

const LIVE_MS = 100;
const PLAIN_MS = 10_000;
/** The first rows say little about the speed of the rest. */
const SHOW_ETA_AFTER_MS = 2_000;

/** `rowsTo` is the output of the rows, if they are shown. */
export function createProgress(
  { streams, options, clock }: Deps,
  noun: string,
  rowsTo: Output | null = null,
): Progress {
  // A live line would get mixed up with rows on the same terminal.
  const isLive = streams.err.isTTY && rowsTo?.isTTY !== true;
  const everyMs = isLive ? LIVE_MS : PLAIN_MS;
  const began = clock.monotonic();
  let expected: number | null = null;
  let live: LiveLine | null = null;
  let nextAt = began + everyMs;
  return {
    expect(rows) {
      expected = rows;
    },
    async update(rows, earlier = 0) {
      const now = clock.monotonic();
      if (options.quiet || now < nextAt) return;
      nextAt = now + everyMs;
      const state = { rows, earlier, expected, elapsedMs: now - began };
      const line = (isLive ? drawBar(state, options.unicode) : "") + describeProgress(noun, state);
      if (!isLive) return streams.err.write(`${line}\n`);
      live ??= openLiveLine(streams.err, options);
      live.show(line);
    },
    async end() {
      live?.end();
      live = null;
    },
  };
}

interface ProgressState {
  readonly rows: number;
  readonly earlier: number;
  readonly expected: number | null;
  readonly elapsedMs: number;
}

/** `1200 of 2000 rows, 640/s, 2s left`. */
function describeProgress(noun: string, { rows, earlier, expected, elapsedMs }: ProgressState): string {
  const perSecond = ((rows - earlier) * 1000) / Math.max(1, elapsedMs);
  const rate = `${formatCount(Math.round(perSecond))}/s`;
  if (expected === null) return `${formatCount(rows)} ${noun}, ${rate}`;
  const left = Math.max(0, expected - rows);
  const eta = rows === earlier || elapsedMs < SHOW_ETA_AFTER_MS ? "" : `, ${describeSeconds(left / perSecond)} left`;
  return `${formatCount(rows)} of ${formatCount(Math.max(expected, rows))} ${noun}, ${rate}${eta}`;
}

const BAR_WIDTH = 20;

function drawBar({ rows, expected, elapsedMs }: ProgressState, unicode: boolean): string {
  if (expected === null || expected === 0 || elapsedMs < SHOW_ETA_AFTER_MS) return "";
  const [full, empty] = unicode ? ["█", "░"] : ["#", "-"];
  const done = Math.min(BAR_WIDTH, Math.floor((BAR_WIDTH * rows) / expected));
  return `${full.repeat(done)}${empty.repeat(BAR_WIDTH - done)} `;
}

function describeSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  return `${Math.floor(whole / 3600)}h ${Math.floor((whole % 3600) / 60)}m`;
}
