/** The windows that a list is cut into, in the order of time; pure bookkeeping without requests. */
import { createDensity, type Density } from "./density.ts";
import type { Span, WindowWalker } from "./window-walker.ts";

/** Pages that a window is cut to hold: more makes the end uneven, fewer costs more half-filled last pages. */
const WINDOW_PAGES = 12;
/** Batches that may wait in one window until those before it are through; bounds the memory. */
export const WAITING_MAX = 16;
/** What is not worth a window of its own. */
const SPLIT_PAGES = 3;

export interface Window<Batch> extends Span {
  readonly walker: WindowWalker;
  /** Read, and not yet handed on. */
  readonly waiting: Batch[];
  rows: number;
  /** A step is under way. */
  busy: boolean;
  done: boolean;
}

export interface WindowsOptions {
  /** What the first page showed. */
  readonly density: { readonly rows: number; readonly seconds: number };
  readonly range: { readonly since: number; readonly until: number };
  readonly fullSize: number;
  readonly concurrency: number;
  /** A walker for a window that begins at `since`. */
  readonly walk: (since: number) => WindowWalker;
  /** The walker that goes on after the first page. */
  readonly head: WindowWalker;
}

export interface Windows<Batch> {
  /** The windows that are not yet through, earliest first. */
  readonly list: Window<Batch>[];
  /** Everything is read and handed on. */
  isThrough(): boolean;
  /** The window that a free worker should read in; null when there is nothing to do just now. */
  pick(): Window<Batch> | null;
  /** Takes note that a window was read to its end. */
  finish(window: Window<Batch>): void;
}

/** The first window is open already, with the walker of the first page. */
export function createWindows<Batch>(options: WindowsOptions): Windows<Batch> {
  const { range, fullSize, concurrency } = options;
  const density: Density = createDensity(options.density.rows, options.density.seconds);
  const windows: Window<Batch>[] = [];
  const liveMax = concurrency + 2;
  let frontier = range.since;

  const add = (index: number, span: Span, walker: WindowWalker): Window<Batch> => {
    const window: Window<Batch> = { ...span, walker, waiting: [], rows: 0, busy: false, done: false };
    windows.splice(index, 0, window);
    return window;
  };
  const openNext = (walker?: WindowWalker): Window<Batch> => {
    const start = frontier;
    const left = density.rowsIn(range.until - start + 1) / fullSize;
    const pages = Math.min(WINDOW_PAGES, Math.max(2, Math.ceil(left / concurrency)));
    // One row less a page: each page of a numbered list begins with the last row of the page before.
    const end = Math.min(range.until, start + density.secondsFor(pages * Math.max(1, fullSize - 1)) - 1);
    frontier = end + 1;
    return add(windows.length, { start, end }, walker ?? options.walk(start));
  };
  const pagesLeft = (window: Window<Batch>): number => {
    const { start, end, walker } = window;
    const span = end - walker.position + 1;
    const rows = window.rows === 0 ? density.rowsIn(span) : (window.rows / Math.max(walker.position - start, 1)) * span;
    return rows / fullSize;
  };
  const split = (): Window<Batch> | null => {
    const worth = windows.filter(
      (window) => !window.done && window.walker.divisible && pagesLeft(window) >= SPLIT_PAGES,
    );
    const [earliest] = worth;
    if (earliest === undefined || windows.length >= 2 * liveMax) return null;
    // While later windows have to wait for the earliest, only help for that one is of use.
    const target =
      frontier <= range.until
        ? earliest
        : worth.reduce((most, window) => (pagesLeft(window) > pagesLeft(most) ? window : most));
    const middle = target.walker.position + Math.floor((target.end - target.walker.position) / 2);
    const { end } = target;
    if (middle <= target.walker.position) return null;
    target.end = middle;
    return add(windows.indexOf(target) + 1, { start: middle + 1, end }, options.walk(middle + 1));
  };

  openNext(options.head);
  return {
    list: windows,
    isThrough: () => windows.length === 0 && frontier > range.until,
    pick() {
      const ready = windows.find((window) => !window.busy && !window.done && window.waiting.length < WAITING_MAX);
      if (ready !== undefined) return ready;
      return frontier <= range.until && windows.length < liveMax ? openNext() : split();
    },
    finish(window) {
      window.done = true;
      density.learn(window.rows, window.end - window.start + 1);
    },
  };
}
