/** Many millions of keyed rows in a few bytes each: sorted a run at a time, told apart when runs are merged. */

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

/** What is kept of two rows of one key, the one that was added first first. */
export type Combine = (one: RunEntry, other: RunEntry) => RunEntry;

const RUN_ROWS = 64 * 1024;
/** Each block begins anew, so that a row is found without reading its run; of this size where rows are looked up. */
export const SMALL_BLOCK = 16;
const LARGE_BLOCK = 4096;
const ROW_BYTES_MAX = 8 + 5 + 5 + 8 + 5;
/** Runs that overlap are made one before there are more. */
const OVERLAPPING_MAX = 16;

interface Run {
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly last: number;
  readonly blockRows: number;
  /** The first key of each block, and where it begins. */
  readonly keys: Float64Array;
  readonly offsets: Uint32Array;
}

/** Rows of a run that is not full yet, a column each. */
interface Columns {
  readonly keys: Float64Array;
  readonly checks: Uint32Array;
  readonly times: Float64Array;
  readonly ordinals: Uint32Array;
  readonly places: Uint32Array;
}

function createColumns(): Columns {
  return {
    keys: new Float64Array(RUN_ROWS),
    checks: new Uint32Array(RUN_ROWS),
    times: new Float64Array(RUN_ROWS),
    ordinals: new Uint32Array(RUN_ROWS),
    places: new Uint32Array(RUN_ROWS),
  };
}

export class SortedRuns {
  private runs: Run[] = [];
  private waiting: Columns | null = null;
  private count = 0;
  private readonly combine: Combine;
  private readonly blockRows: number;

  constructor(combine: Combine, blockRows: number = LARGE_BLOCK) {
    this.combine = combine;
    this.blockRows = blockRows;
  }

  add({ key, check }: RowKey, time: number, ordinal: number, place: number): void {
    const { keys, checks, times, ordinals, places } = (this.waiting ??= createColumns());
    const at = this.count;
    [keys[at], checks[at], times[at], ordinals[at], places[at]] = [key, check, time, ordinal, place];
    this.count += 1;
    if (this.count < RUN_ROWS) return;
    this.seal();
    if (this.runs.length >= OVERLAPPING_MAX && !this.isApart()) this.merge();
  }

  /** Ends adding: each key is there once. How many there are. */
  finish(): number {
    this.seal();
    if (!this.isApart()) this.merge();
    this.waiting = null;
    return this.runs.reduce((sum, { rows }) => sum + rows, 0);
  }

  /** After `finish`. */
  find({ key, check }: RowKey): RunEntry | null {
    const run = this.runs[lastAtMost(this.runs.length, (at) => (this.runs[at] as Run).keys[0] ?? 0, key)];
    if (run === undefined) return null;
    const block = lastAtMost(run.keys.length, (at) => run.keys[at] ?? 0, key);
    for (const entry of readRun(run, block)) {
      if (entry.key === key && entry.check === check) return entry;
      if (entry.key > key) return null;
    }
    return null;
  }

  clear(): void {
    this.runs = [];
  }

  /** After `finish`, in the order of their keys. */
  *entries(): Generator<RunEntry> {
    for (const run of this.runs) yield* readRun(run, 0);
  }

  private seal(): void {
    const { waiting, count } = this;
    if (waiting === null || count === 0) return;
    this.count = 0;
    this.runs.push(...encode(distinct(sorted(waiting, count), this.combine), this.blockRows));
  }

  private isApart(): boolean {
    this.runs.sort((one, other) => (one.keys[0] ?? 0) - (other.keys[0] ?? 0));
    return this.runs.every((run, at) => at === 0 || (this.runs[at - 1] as Run).last < (run.keys[0] ?? 0));
  }

  private merge(): void {
    this.runs = [...encode(distinct(mergeRuns(this.runs), this.combine), this.blockRows)];
  }
}

function* sorted({ keys, checks, times, ordinals, places }: Columns, count: number): Generator<RunEntry> {
  const order = Uint32Array.from({ length: count }, (_, at) => at);
  const compareRows = (one: number, other: number): number =>
    (keys[one] ?? 0) - (keys[other] ?? 0) || (checks[one] ?? 0) - (checks[other] ?? 0) || one - other;
  // Most sources are in the order of their ids.
  if (order.some((at) => at > 0 && compareRows(at - 1, at) > 0)) order.sort(compareRows);
  for (const at of order)
    yield {
      key: keys[at] ?? 0,
      check: checks[at] ?? 0,
      time: times[at] ?? 0,
      ordinal: ordinals[at] ?? 0,
      place: places[at] ?? 0,
    };
}

function* encode(entries: Iterable<RunEntry>, blockRows: number): Generator<Run> {
  const bytes = new Uint8Array(RUN_ROWS * ROW_BYTES_MAX);
  let writer = new RunWriter(bytes, blockRows);
  for (const entry of entries) {
    writer.write(entry);
    if (writer.rows < RUN_ROWS) continue;
    yield writer.end();
    writer = new RunWriter(bytes, blockRows);
  }
  if (writer.rows > 0) yield writer.end();
}

function compare(one: RowKey, other: RowKey): number {
  return one.key - other.key || one.check - other.check;
}

/** The last of so many rising keys that is not above `key`; -1 for none. */
function lastAtMost(count: number, keyAt: (at: number) => number, key: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keyAt(middle) <= key) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function* distinct(entries: Iterable<RunEntry>, combine: Combine): Generator<RunEntry> {
  let kept: RunEntry | null = null;
  for (const entry of entries) {
    if (kept !== null && compare(kept, entry) === 0) kept = combine(kept, entry);
    else {
      if (kept !== null) yield kept;
      kept = entry;
    }
  }
  if (kept !== null) yield kept;
}

interface Reading {
  readonly rest: Generator<RunEntry>;
  entry: RunEntry;
}

/** `runs` are in the order of their first keys: one is opened when its turn comes. */
function* mergeRuns(runs: readonly Run[]): Generator<RunEntry> {
  const open: Reading[] = [];
  let next = 0;
  for (;;) {
    let least = leastOf(open);
    for (let run = runs[next]; run !== undefined && (least === null || (run.keys[0] ?? 0) <= least.entry.key);) {
      const rest = readRun(run, 0);
      open.push({ rest, entry: rest.next().value as RunEntry });
      next += 1;
      run = runs[next];
      least = leastOf(open);
    }
    if (least === null) return;
    yield least.entry;
    const following = least.rest.next();
    if (following.done === true) open.splice(open.indexOf(least), 1);
    else least.entry = following.value;
  }
}

/** Of equal keys the one that was added first. */
function leastOf(open: readonly Reading[]): Reading | null {
  let least: Reading | null = null;
  for (const reading of open) {
    const order =
      least === null ? -1 : compare(reading.entry, least.entry) || reading.entry.ordinal - least.entry.ordinal;
    if (order < 0) least = reading;
  }
  return least;
}

/** Writes rows as differences from the row before, in as many bytes as each needs. */
class RunWriter {
  rows = 0;
  private at = 0;
  private key = 0;
  private time = 0;
  private ordinal = 0;
  private readonly keys: number[] = [];
  private readonly offsets: number[] = [];
  private readonly bytes: Uint8Array;
  private readonly blockRows: number;

  constructor(bytes: Uint8Array, blockRows: number) {
    this.bytes = bytes;
    this.blockRows = blockRows;
  }

  write({ key, check, time, ordinal, place }: RunEntry): void {
    if (this.rows % this.blockRows === 0) {
      this.keys.push(key);
      this.offsets.push(this.at);
      [this.key, this.time, this.ordinal] = [0, 0, 0];
    }
    this.put(key - this.key);
    this.put(check);
    this.put(toUnsigned(time - this.time));
    this.put(toUnsigned(ordinal - this.ordinal));
    this.put(place);
    [this.key, this.time, this.ordinal] = [key, time, ordinal];
    this.rows += 1;
  }

  end(): Run {
    return {
      bytes: this.bytes.slice(0, this.at),
      rows: this.rows,
      blockRows: this.blockRows,
      last: this.key,
      keys: Float64Array.from(this.keys),
      offsets: Uint32Array.from(this.offsets),
    };
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

/** From a block on to the end. */
function* readRun({ bytes, rows, offsets, blockRows }: Run, block: number): Generator<RunEntry> {
  let at = offsets[block] ?? 0;
  const take = (): number => {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = bytes[at] ?? 0;
      at += 1;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  };
  let [key, time, ordinal] = [0, 0, 0];
  for (let row = block * blockRows; row < rows; row += 1) {
    if (row % blockRows === 0) [key, time, ordinal] = [0, 0, 0];
    key += take();
    const check = take();
    time += toSigned(take());
    ordinal += toSigned(take());
    yield { key, check, time, ordinal, place: take() };
  }
}

/** Whole numbers from 0, a bit each. */
export class NumberSet {
  private bits = new Uint8Array(1024);

  add(number: number): void {
    const byte = number >>> 3;
    if (byte >= this.bits.length) {
      const grown = new Uint8Array(Math.max(byte + 1, this.bits.length * 2));
      grown.set(this.bits);
      this.bits = grown;
    }
    this.bits[byte] = (this.bits[byte] ?? 0) | (1 << (number & 7));
  }

  has(number: number): boolean {
    return ((this.bits[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0;
  }
}
