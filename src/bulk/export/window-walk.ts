/** Reads the windows of a list in parallel and hands their batches on in order. */
import { createChangeBell } from "./change-bell.ts";
import type { RowPage } from "./lists.ts";
import { WAITING_MAX, type Window, type Windows } from "./windows.ts";

export interface WindowWalk<Batch> {
  readonly windows: Windows<Batch>;
  readonly concurrency: number;
  /** What is kept of a page until its turn comes. */
  readonly digest: (page: RowPage) => Batch;
  /** Settles when it is known that the service minds time ranges; rejects with `FiltersIgnoredError` when it does not. */
  readonly proof: Promise<void>;
  /** Ends the requests under way once one has failed or nobody wants the rest. */
  readonly stop: () => void;
}

/** Nothing is handed on before the proof has come. */
export async function* walkWindows<Batch>(walk: WindowWalk<Batch>): AsyncGenerator<Batch> {
  const { windows, concurrency } = walk;
  const bell = createChangeBell();
  const state: { error: unknown; ended: boolean; proven: boolean } = { error: null, ended: false, proven: false };
  const fail = (error: unknown): void => {
    state.error ??= error;
    bell.ring();
  };
  const awaitProof = async (): Promise<void> => {
    await walk.proof;
    state.proven = true;
    bell.ring();
  };
  awaitProof().catch(fail);
  const workers = Array.from({ length: concurrency }, () => work());
  try {
    while (!windows.isThrough()) {
      const batch = state.error === null ? takeNext() : null;
      if (state.error !== null) throw state.error;
      if (batch === null) await bell.next();
      else if (batch !== undefined) yield batch;
    }
  } finally {
    state.ended = true;
    if (state.error !== null || !windows.isThrough()) walk.stop();
    bell.ring();
    await Promise.allSettled([...workers, walk.proof]);
  }

  /** The next batch in order; undefined when there may be one at once, null when one has to wait. */
  function takeNext(): Batch | undefined | null {
    const [head] = windows.list;
    if (head === undefined) return null;
    if (head.waiting.length > 0 && state.proven) {
      const batch = head.waiting.shift();
      bell.ring();
      return batch;
    }
    if (!head.done || head.waiting.length > 0) return null;
    windows.list.shift();
    bell.ring();
    return undefined;
  }

  async function work(): Promise<void> {
    while (!state.ended && state.error === null && !windows.isThrough()) {
      const window = windows.pick();
      if (window === null) await bell.next();
      else await step(window);
    }
  }

  async function step(window: Window<Batch>): Promise<void> {
    window.busy = true;
    try {
      const done = await window.walker.step(window, (page) => put(window, page));
      if (done) windows.finish(window);
    } catch (error) {
      fail(error);
    }
    window.busy = false;
    bell.ring();
  }

  async function put(window: Window<Batch>, page: RowPage): Promise<void> {
    if (page.rows.length === 0) return;
    while (window.waiting.length >= WAITING_MAX && !state.ended && state.error === null) await bell.next();
    window.rows += page.rows.length;
    window.waiting.push(walk.digest(page));
    bell.ring();
  }
}
