/** Which people were seen before, for a million rows in thirteen megabytes: fingerprints instead of the texts. */
import { emailKey } from "../../../contract/email.ts";
import type { RowValues } from "./row-kind.ts";

export interface IdentityTable {
  /** The line on which the same person stood before; null for somebody new, who is remembered. */
  seen(identity: string, line: number): number | null;
}

export interface IdentityOptions {
  /** About how many people will come; memory that is not needed is never touched. */
  readonly expected?: number;
  /** The line that is remembered of somebody who comes again. */
  readonly remember?: "first" | "last";
}

/** The same e-mail without regard to case, or the same phone where there is no e-mail, is the same person. */
export function identityOf(values: RowValues): string {
  const { email, phone_number: phone, person_id: id } = values;
  if (typeof email === "string") return emailKey(email);
  return typeof phone === "string" ? phone : `#${String(id)}`;
}

const SMALLEST = 1024;
const FULL = 0.95;
const GROWTH = 1.5;

/** Two different people share a fingerprint of 64 bits once in some thirty million files of a million rows. */
export function createIdentityTable({ expected = 0, remember = "first" }: IdentityOptions = {}): IdentityTable {
  let slots = createSlots(Math.max(SMALLEST, Math.ceil(expected / FULL)));
  let count = 0;
  return {
    seen(identity, line) {
      const [high, low] = fingerprint(identity);
      const at = find(slots, high, low);
      const before = slots.lines[at] ?? 0;
      if (before !== 0) {
        if (remember === "last") slots.lines[at] = line;
        return before;
      }
      put(slots, at, high, low, line);
      count += 1;
      if (count > slots.lines.length * FULL) slots = grow(slots);
      return null;
    },
  };
}

/** A line of 0 is an empty slot. */
interface Slots {
  readonly highs: Uint32Array;
  readonly lows: Uint32Array;
  readonly lines: Uint32Array;
}

function createSlots(size: number): Slots {
  return { highs: new Uint32Array(size), lows: new Uint32Array(size), lines: new Uint32Array(size) };
}

function find({ highs, lows, lines }: Slots, high: number, low: number): number {
  let at = low % lines.length;
  while (lines[at] !== 0 && (highs[at] !== high || lows[at] !== low)) at = at + 1 === lines.length ? 0 : at + 1;
  return at;
}

function put({ highs, lows, lines }: Slots, at: number, high: number, low: number, line: number): void {
  highs[at] = high;
  lows[at] = low;
  lines[at] = line;
}

function grow(old: Slots): Slots {
  const slots = createSlots(Math.ceil(old.lines.length * GROWTH));
  for (const [index, line] of old.lines.entries()) {
    if (line === 0) continue;
    const [high, low] = [old.highs[index] ?? 0, old.lows[index] ?? 0];
    put(slots, find(slots, high, low), high, low, line);
  }
  return slots;
}

/** Two independent hashes of 32 bits (the mixing of MurmurHash3 over UTF-16 units). */
function fingerprint(text: string): [high: number, low: number] {
  let high = 0x9747b28c;
  let low = 0x3c6ef372;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 0xcc9e2d51);
    high = (high << 13) | (high >>> 19);
    low = Math.imul(low ^ unit, 0x1b873593) + 0x6b64e654;
    low = (low << 15) | (low >>> 17);
  }
  return [mix(high ^ text.length), mix(low + text.length)];
}

function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
