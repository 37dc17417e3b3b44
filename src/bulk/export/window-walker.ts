import type { RowPage } from "./lists.ts";

/** A stretch of time that is read on its own. `end` moves down when the stretch is split. */
export interface Span {
  readonly start: number;
  end: number;
}

/** Reads one window of a list from its start to its end, a request or so at a time. */
export interface WindowWalker {
  /** Every row before this second has been read. */
  readonly position: number;
  /** Whether a split may still move the window's end down. */
  readonly divisible: boolean;
  /**
   * Reads on and hands over rows that no step has handed over before, none of them after `span.end`.
   * Resolves with true when the window has been read to its end.
   * Throws `FiltersIgnoredError` when rows come from before the window.
   */
  step(span: Span, emit: (page: RowPage) => Promise<void>): Promise<boolean>;
}
