/** On a terminal, progress is a live line; otherwise a line is printed every ten seconds. */
import type { Deps } from "./deps.ts";
import { formatCount } from "../../contract/text/whole-number.ts";
import { clearLine, cursorTo, moveCursor } from "node:readline";
import { Writable } from "node:stream";
import type { Ora } from "ora";
import type { Output } from "../streams/streams.ts";

export interface Progress {
  expect(rows: number): void;
  /** `earlier` rows were done by previous runs and don't count toward the rate. */
  update(rows: number, earlier?: number): Promise<void>;
  end(): Promise<void>;
}

const LIVE_MS = 100;
const PLAIN_MS = 10_000;
/** The first rows say little about the speed of the rest. */
const SHOW_ETA_AFTER_MS = 2_000;

export function createProgress(
  { streams, options, clock }: Deps,
  noun: string,
  rowsTo: Output | null = null,
): Progress {
  // On the same terminal, a live line would get mixed up with the rows.
  const isLive = streams.err.isTTY && rowsTo?.isTTY !== true;
  const everyMs = isLive ? LIVE_MS : PLAIN_MS;
  const began = clock.monotonic();
  let expected: number | null = null;
  let live: Promise<LiveLine> | null = null;
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
      live ??= openLiveLine(streams.err, options.color);
      (await live).show(line);
    },
    async end() {
      // The live line's timer would keep the process alive, even if the line is still opening.
      (await live)?.end();
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

export interface LiveLine {
  show(text: string): void;
  end(): void;
}

/** The terminal has one live line, which progress and waits share. */
const SHARED = new WeakMap<Output, Promise<SharedLine>>();

interface SharedLine {
  readonly spinner: Ora;
  readonly texts: Map<symbol, string>;
}

export async function openLiveLine(err: Output, color: boolean): Promise<LiveLine> {
  const shared = SHARED.get(err) ?? startLine(err, color);
  SHARED.set(err, shared);
  const { spinner, texts } = await shared;
  const own = Symbol("line");
  const refresh = (): void => {
    spinner.text = [...texts.values()].join(" · ");
    if (texts.size === 0) spinner.stop();
    else if (!spinner.isSpinning) spinner.start();
  };
  return {
    show(text) {
      texts.set(own, text);
      refresh();
    },
    end() {
      texts.delete(own);
      refresh();
    },
  };
}

async function startLine(err: Output, color: boolean): Promise<SharedLine> {
  const { default: ora } = await import("ora");
  const spinner = ora({
    stream: toTerminal(err),
    isEnabled: true,
    discardStdin: false,
    hideCursor: false,
    color: color ? "cyan" : false,
  });
  return { spinner, texts: new Map() };
}

function toTerminal(err: Output): NodeJS.WriteStream {
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      void err.write(chunk);
      done();
    },
  });
  const methods = {
    isTTY: true,
    columns: err.columns,
    cursorTo: (x: number) => cursorTo(stream, x),
    clearLine: (direction: -1 | 0 | 1) => clearLine(stream, direction),
    moveCursor: (dx: number, dy: number) => moveCursor(stream, dx, dy),
  };
  return Object.assign(stream, methods) as unknown as NodeJS.WriteStream;
}
