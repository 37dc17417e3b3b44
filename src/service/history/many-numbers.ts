/** Whole numbers by the million in little memory. */
import type { RunStore } from "./sorted-runs.ts";

/** Rows of an id and its time that are read and written together. */
const BLOCK_ROWS = 256;
const NUMBERS_A_ROW = 2;

/** A time for each of many ids, which are added in their order: on disk, but for the first id of each block. */
export class TimesById {
  private readonly firsts: number[] = [];
  private readonly places: number[] = [];
  private block = new Float64Array(BLOCK_ROWS * NUMBERS_A_ROW);
  /** Of the block in memory. */
  private blockAt = -1;
  private rows = 0;
  private readonly store: RunStore;

  constructor(store: RunStore) {
    this.store = store;
  }

  add(id: number, time: number): void {
    if (this.rows === 0) this.firsts.push(id);
    this.block.set([id, time], this.rows * NUMBERS_A_ROW);
    this.rows += 1;
    if (this.rows === BLOCK_ROWS) this.finish();
  }

  /** After the last one. */
  finish(): void {
    if (this.rows === 0) return;
    this.block.fill(Infinity, this.rows * NUMBERS_A_ROW);
    this.places.push(this.store.append(bytesOf(this.block)));
    this.rows = 0;
  }

  /** After `finish`. */
  find(id: number): number | null {
    const at = lastAtMost(this.firsts.length, (each) => this.firsts[each] ?? 0, id);
    if (at === -1) return null;
    if (at !== this.blockAt) this.store.read(bytesOf(this.block), this.places[at] ?? 0);
    this.blockAt = at;
    const row = lastAtMost(BLOCK_ROWS, (each) => this.block[each * NUMBERS_A_ROW] ?? 0, id) * NUMBERS_A_ROW;
    return this.block[row] === id ? (this.block[row + 1] ?? null) : null;
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** The last of so many rising numbers that is not above `number`; -1 for none. */
function lastAtMost(count: number, numberAt: (at: number) => number, number: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numberAt(middle) <= number) low = middle + 1;
    else high = middle;
  }
  return low - 1;
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
