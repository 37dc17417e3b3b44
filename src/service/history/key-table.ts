/** Which rows of an import are the newest of their key, in a few bytes each: there may be many millions. */

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

const FIRST_SLOTS = 1024;
const LOAD_MAX = 0.8;
const GROWTH = 1.6;

/** A hash table in typed arrays: 8 bytes a slot for the key, 4 for each column; keys are never 0. */
export class KeyTable {
  size = 0;
  private keys = new Float64Array(FIRST_SLOTS);
  private columns: Uint32Array[];
  private readonly hasTexts: boolean;
  private readonly values: number;

  /** The first column holds `check` where there are texts among the keys. */
  constructor(hasTexts: boolean, values: number) {
    this.hasTexts = hasTexts;
    this.values = values;
    this.columns = this.makeColumns(FIRST_SLOTS);
  }

  /** The slot of a key; -1 for none. */
  find({ key, check }: RowKey): number {
    const slot = this.slotOf(this.keys, this.columns, key, check);
    return this.keys[slot] === 0 ? -1 : slot;
  }

  /** The slot of a key that is not in it yet. */
  insert({ key, check }: RowKey): number {
    if (this.size + 1 > this.keys.length * LOAD_MAX) this.grow();
    const slot = this.slotOf(this.keys, this.columns, key, check);
    this.keys[slot] = key;
    if (this.hasTexts) (this.columns[0] as Uint32Array)[slot] = check;
    this.size += 1;
    return slot;
  }

  get(slot: number, column: number): number {
    return (this.columns[column + (this.hasTexts ? 1 : 0)] as Uint32Array)[slot] ?? 0;
  }

  set(slot: number, column: number, value: number): void {
    (this.columns[column + (this.hasTexts ? 1 : 0)] as Uint32Array)[slot] = value;
  }

  private makeColumns(slots: number): Uint32Array[] {
    return Array.from({ length: this.values + (this.hasTexts ? 1 : 0) }, () => new Uint32Array(slots));
  }

  private slotOf(keys: Float64Array, columns: readonly Uint32Array[], key: number, check: number): number {
    let slot = mix(key) % keys.length;
    for (; keys[slot] !== 0; slot = slot + 1 === keys.length ? 0 : slot + 1)
      if (keys[slot] === key && (!this.hasTexts || columns[0]?.[slot] === check)) return slot;
    return slot;
  }

  private grow(): void {
    const slots = Math.floor(this.keys.length * GROWTH);
    const [keys, columns] = [new Float64Array(slots), this.makeColumns(slots)];
    for (let old = 0; old < this.keys.length; old += 1) {
      const key = this.keys[old] ?? 0;
      if (key === 0) continue;
      const slot = this.slotOf(keys, columns, key, this.hasTexts ? (this.columns[0]?.[old] ?? 0) : 0);
      keys[slot] = key;
      for (const [index, column] of columns.entries()) column[slot] = this.columns[index]?.[old] ?? 0;
    }
    [this.keys, this.columns] = [keys, columns];
  }
}

function mix(key: number): number {
  const low = key >>> 0;
  const high = Math.floor(key / 2 ** 32);
  let hash = Math.imul(low ^ (high + 0x9e37_79b9), 2_246_822_507);
  hash = Math.imul(hash ^ (hash >>> 13), 3_266_489_909);
  return (hash ^ (hash >>> 16)) >>> 0;
}

const [VERSION, ORDINAL, PLACE] = [0, 1, 2];
const VERSION_MAX = 2 ** 32 - 1;

/** What a claim displaces: the place that the older row was counted in. */
export type KeyClaim = { readonly won: false } | { readonly won: true; readonly displaced: number | null };

/** Of the rows of one key the newest; of those of one age the last. */
export class Newest {
  private readonly ids = new KeyTable(false, 3);
  private readonly texts = new KeyTable(true, 3);

  get size(): number {
    return this.ids.size + this.texts.size;
  }

  /** `version` in Unix seconds; `ordinal` is the row's number in the whole import, `place` any 32 bits. */
  claim(key: RowKey, version: number, ordinal: number, place: number): KeyClaim {
    const table = this.tableOf(key);
    const age = Math.min(version, VERSION_MAX);
    const found = table.find(key);
    const slot = found === -1 ? table.insert(key) : found;
    if (found !== -1 && table.get(slot, VERSION) > age) return { won: false };
    const displaced = found === -1 ? null : table.get(slot, PLACE);
    table.set(slot, VERSION, age);
    table.set(slot, ORDINAL, ordinal);
    table.set(slot, PLACE, place);
    return { won: true, displaced };
  }

  isNewest(key: RowKey, ordinal: number): boolean {
    const table = this.tableOf(key);
    const slot = table.find(key);
    return slot !== -1 && table.get(slot, ORDINAL) === ordinal;
  }

  private tableOf({ check }: RowKey): KeyTable {
    return check === 0 ? this.ids : this.texts;
  }
}
