/** Keyed rows by the million in little memory: runs of them are sorted, put aside on disk, and merged at the end. */

/** A key of 53 bits, and where it stands for a text, 32 more that tell texts apart. */
export interface RowKey {
  readonly key: number;
  readonly check: number;
}

export function idKey(id: number): RowKey {
  return { key: id, check: 0 };
}

/** Two texts with the same 85 bits are taken for one; of many millions none is expected to be. */
export function textKey(text: string): RowKey {
  let [one, two, three] = [0xdeadbeef, 0x41c6ce57, 0x811c9dc5];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 2_654_435_761);
    two = Math.imul(two ^ code, 1_597_334_677);
    three = Math.imul(three ^ code, 16_777_619);
  }
  one = Math.imul(one ^ (one >>> 16), 2_246_822_507) ^ Math.imul(two ^ (two >>> 13), 3_266_489_909);
  two = Math.imul(two ^ (two >>> 16), 2_246_822_507) ^ Math.imul(one ^ (one >>> 13), 3_266_489_909);
  return { key: (two & 0x1f_ffff) * 2 ** 32 + (one >>> 0) || 1, check: (three ^ (three >>> 15)) >>> 0 || 1 };
}

/** A row: `time`, `ordinal` and `place` are whole numbers from 0, the last two below 2^32. */
export interface RunEntry extends RowKey {
  readonly time: number;
  readonly ordinal: number;
  readonly place: number;
}

/** What is kept of two rows of one key: one of the two. */
export type Combine = (one: RunEntry, other: RunEntry) => RunEntry;

/** Bytes put aside; opened when there are any. */
export interface RunStore {
  /** Returns where they begin. */
  append(bytes: Uint8Array): number;
  read(into: Uint8Array, at: number): void;
}

const RUN_ROWS = 64 * 1024;
const ROW_BYTES_MAX = 8 + 5 + 8 + 5 + 5;
/** Of each run, while all are merged. */
const PIECE_BYTES = 16 * 1024;

interface Run {
  readonly at: number;
  readonly bytes: number;
  readonly rows: number;
  readonly first: number;
  readonly last: number;
}

/** Rows that are not in a run yet, a column each. */
interface Columns {
  readonly keys: Float64Array;
  readonly checks: Uint32Array;
  readonly times: Float64Array;
  readonly ordinals: Uint32Array;
  readonly places: Uint32Array;
}

function createColumns(rows: number): Columns {
  return {
    keys: new Float64Array(rows),
    checks: new Uint32Array(rows),
    times: new Float64Array(rows),
    ordinals: new Uint32Array(rows),
    places: new Uint32Array(rows),
  };
}

export class SortedRuns {
  private runs: Run[] = [];
  private waiting: Columns | null = null;
  private count = 0;
  private readonly combine: Combine;
  private readonly store: RunStore;
  private readonly runRows: number;

  constructor(combine: Combine, store: RunStore, runRows: number = RUN_ROWS) {
    this.combine = combine;
    this.store = store;
    this.runRows = runRows;
  }

  add({ key, check }: RowKey, time: number, ordinal: number, place: number): void {
    const { keys, checks, times, ordinals, places } = (this.waiting ??= createColumns(this.runRows));
    const at = this.count;
    keys[at] = key;
    checks[at] = check;
    times[at] = time;
    ordinals[at] = ordinal;
    places[at] = place;
    this.count += 1;
    if (this.count === this.runRows) this.seal();
  }

  /**
   * Ends adding: rows of one key are combined, and what is left is visited in the order of keys; the entry is good for
   * that moment. With nobody to visit them, runs that do not overlap are not read again.
   */
  finish(visit: ((entry: RunEntry) => void) | null = null): void {
    if (this.runs.length === 0) {
      if (this.waiting !== null) combineEqual(new ColumnCursor(this.waiting, this.count), this.combine, visit);
    } else {
      this.seal();
      this.runs.sort((one, other) => one.first - other.first);
      if (visit !== null || !areApart(this.runs))
        combineEqual(new MergeCursor(this.runs.map((run) => new RunCursor(this.store, run))), this.combine, visit);
    }
    [this.runs, this.waiting, this.count] = [[], null, 0];
  }

  private seal(): void {
    const { waiting, count } = this;
    if (waiting === null || count === 0) return;
    this.count = 0;
    const writer = new RunWriter(count);
    combineEqual(new ColumnCursor(waiting, count), this.combine, (entry) => writer.write(entry));
    this.runs.push(writer.end(this.store));
  }
}

function areApart(runs: readonly Run[]): boolean {
  return runs.every((run, at) => at === 0 || (runs[at - 1]?.last ?? 0) < run.first);
}

function compare(one: RowKey, other: RowKey): number {
  return one.key - other.key || one.check - other.check;
}

/** Goes through rows in the order of their keys; it is itself the row where it stands. */
interface Cursor extends RunEntry {
  /** Whether there was one more row. */
  next(): boolean;
}

/** `visit` gets the same object each time. */
function combineEqual(cursor: Cursor, combine: Combine, visit: ((entry: RunEntry) => void) | null): void {
  const kept = { key: 0, check: 0, time: 0, ordinal: 0, place: 0 };
  const keep = ({ key, check, time, ordinal, place }: RunEntry): void => {
    kept.key = key;
    kept.check = check;
    kept.time = time;
    kept.ordinal = ordinal;
    kept.place = place;
  };
  let isEmpty = true;
  while (cursor.next())
    if (!isEmpty && compare(kept, cursor) === 0) {
      if (combine(kept, cursor) === cursor) keep(cursor);
    } else {
      if (!isEmpty) visit?.(kept);
      keep(cursor);
      isEmpty = false;
    }
  if (!isEmpty) visit?.(kept);
}

class ColumnCursor implements Cursor {
  key = 0;
  check = 0;
  time = 0;
  ordinal = 0;
  place = 0;
  private at = 0;
  private readonly order: Uint32Array;
  private readonly columns: Columns;

  constructor(columns: Columns, count: number) {
    this.columns = columns;
    const { keys, checks } = columns;
    const compareRows = (one: number, other: number): number =>
      (keys[one] ?? 0) - (keys[other] ?? 0) || (checks[one] ?? 0) - (checks[other] ?? 0) || one - other;
    this.order = Uint32Array.from({ length: count }, (_, at) => at);
    // Most sources are in the order of their ids.
    if (this.order.some((at) => at > 0 && compareRows(at - 1, at) > 0)) this.order.sort(compareRows);
  }

  next(): boolean {
    const row = this.order[this.at];
    if (row === undefined) return false;
    const { keys, checks, times, ordinals, places } = this.columns;
    this.at += 1;
    this.key = keys[row] ?? 0;
    this.check = checks[row] ?? 0;
    this.time = times[row] ?? 0;
    this.ordinal = ordinals[row] ?? 0;
    this.place = places[row] ?? 0;
    return true;
  }
}

/** Writes rows as differences from the row before, in as many bytes as each number needs. */
class RunWriter {
  private readonly bytes: Uint8Array;
  private at = 0;
  private rows = 0;
  private first = 0;
  private key = 0;
  private time = 0;
  private ordinal = 0;

  constructor(rows: number) {
    this.bytes = new Uint8Array(rows * ROW_BYTES_MAX);
  }

  write({ key, check, time, ordinal, place }: RunEntry): void {
    if (this.rows === 0) this.first = key;
    this.put(key - this.key);
    this.put(check);
    this.put(toUnsigned(time - this.time));
    this.put(toUnsigned(ordinal - this.ordinal));
    this.put(place);
    this.key = key;
    this.time = time;
    this.ordinal = ordinal;
    this.rows += 1;
  }

  end(store: RunStore): Run {
    const bytes = this.bytes.subarray(0, this.at);
    return { at: store.append(bytes), bytes: this.at, rows: this.rows, first: this.first, last: this.key };
  }

  private put(value: number): void {
    let left = value;
    while (left >= 128) {
      this.bytes[this.at] = (left % 128) + 128;
      this.at += 1;
      left = Math.floor(left / 128);
    }
    this.bytes[this.at] = left;
    this.at += 1;
  }
}

function toUnsigned(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}

function toSigned(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/** Reads a run back, a piece at a time. */
class RunCursor implements Cursor {
  key = 0;
  check = 0;
  time = 0;
  ordinal = 0;
  place = 0;
  private piece = new Uint8Array(0);
  private at = 0;
  private nextAt: number;
  private left: number;
  private readonly end: number;
  private readonly store: RunStore;

  constructor(store: RunStore, { at, bytes, rows }: Run) {
    this.store = store;
    this.nextAt = at;
    this.end = at + bytes;
    this.left = rows;
  }

  next(): boolean {
    if (this.left === 0) return false;
    this.left -= 1;
    if (this.piece.length - this.at < ROW_BYTES_MAX && this.nextAt < this.end) this.fill();
    this.key += this.take();
    this.check = this.take();
    this.time += toSigned(this.take());
    this.ordinal += toSigned(this.take());
    this.place = this.take();
    return true;
  }

  private fill(): void {
    const rest = this.piece.subarray(this.at);
    const size = Math.min(PIECE_BYTES, this.end - this.nextAt);
    this.piece = new Uint8Array(rest.length + size);
    this.piece.set(rest);
    this.store.read(this.piece.subarray(rest.length), this.nextAt);
    this.nextAt += size;
    this.at = 0;
  }

  private take(): number {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = this.piece[this.at] ?? 0;
      this.at += 1;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  }
}

/** The rows of several runs as of one: a heap of those that have more. */
class MergeCursor implements Cursor {
  key = 0;
  check = 0;
  time = 0;
  ordinal = 0;
  place = 0;
  private readonly heap: RunCursor[] = [];

  constructor(cursors: readonly RunCursor[]) {
    for (const cursor of cursors) if (cursor.next()) this.heap.push(cursor);
    for (let at = (this.heap.length >> 1) - 1; at >= 0; at -= 1) this.sink(at);
  }

  next(): boolean {
    const [least] = this.heap;
    if (least === undefined) return false;
    this.key = least.key;
    this.check = least.check;
    this.time = least.time;
    this.ordinal = least.ordinal;
    this.place = least.place;
    if (!least.next()) {
      const last = this.heap.pop();
      if (last !== undefined && this.heap.length > 0) this.heap[0] = last;
    }
    this.sink(0);
    return true;
  }

  private sink(from: number): void {
    const { heap } = this;
    for (let at = from; ;) {
      const child = 2 * at + 1;
      const [one, other] = [heap[child], heap[child + 1]];
      const isOther = one !== undefined && other !== undefined && compare(other, one) < 0;
      const [least, leastAt] = isOther ? [other, child + 1] : [one, child];
      const here = heap[at];
      if (here === undefined || least === undefined || compare(here, least) <= 0) return;
      heap[at] = least;
      heap[leastAt] = here;
      at = leastAt;
    }
  }
}
