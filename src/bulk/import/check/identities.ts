/** Finds rows of the same person. A million rows take about 150 MB. */
import { createHash } from "node:crypto";
import { domainToASCII } from "node:url";
import { emailKey, isAscii } from "../../../contract/text/email.ts";
import { createLineNumbers, type LineNumbers } from "../table/line-numbers.ts";
import type { ImportRow, RowKind, RowValues } from "./row-kind.ts";

export function keptLine(keptBy: LineNumbers, line: number): number {
  let kept = line;
  while (keptBy.get(kept) !== 0) kept = keptBy.get(kept);
  if (kept !== line) keptBy.set(line, kept);
  return kept;
}

/** `keptBy` gets, for each dropped line, the line that replaces it, which may itself be dropped later. */
export function groupLines(keep: "first" | "last", keptBy: LineNumbers) {
  const lines = new KeyMap();
  const addressed = createLineNumbers(Uint8Array);
  return {
    /** Returns an earlier line that has the same phone number but another address. */
    findConflict({ email, phone_number: phone }: RowValues): number | null {
      const holder = typeof phone === "string" ? lines.get(phone) : undefined;
      if (holder === undefined || typeof email !== "string" || addressed.get(holder) === 0) return null;
      const owner = lines.get(addressKey(email));
      return owner !== undefined && keptLine(keptBy, owner) === keptLine(keptBy, holder) ? null : holder;
    },
    /** Returns the lines to drop. */
    join(line: number, keys: readonly string[]): number[] {
      const before: number[] = [];
      const hasAddress = keys[0]?.includes("@") === true;
      for (const key of keys) {
        const holder = lines.get(key);
        const kept = holder === undefined ? line : keptLine(keptBy, holder);
        if (kept !== line && !before.includes(kept)) before.push(kept);
        // Prefers a line with both a number and an address, because conflict messages name it.
        if (holder === undefined) lines.add(key, line);
        else if (hasAddress && addressed.get(holder) === 0) lines.replace(key, line);
      }
      if (hasAddress) addressed.set(line, 1);
      if (before.length === 0) return before;
      const kept = keep === "last" ? line : Math.min(...before);
      const dropped = [...before, line].filter((one) => one !== kept);
      for (const one of dropped) keptBy.set(one, kept);
      return dropped;
    },
  };
}

export function personKeys(values: RowValues): string[] {
  const { email, email_update: newEmail, phone_number: phone, phone_number_update: newPhone, person_id: id } = values;
  const keys: string[] = [];
  if (typeof email === "string") keys.push(addressKey(email));
  if (typeof newEmail === "string") keys.push(addressKey(newEmail));
  if (typeof phone === "string") keys.push(phone);
  if (typeof newPhone === "string") keys.push(newPhone);
  // Uses the id last: in a file exported from another service, ids belong to other people.
  return keys.length > 0 ? keys : [`#${String(id)}`];
}

export function answerKey(values: RowValues): string {
  const { score, comment, created_at: at = null } = values;
  const text = typeof comment === "string" ? comment.replaceAll(/\r\n?/g, "\n").trim() : "";
  return shortHash([personKeys(values)[0], at, score, text]);
}

/** Stays the same when the row moves in a later version of the file. */
export function rowKey({ repeats }: RowKind, { values, properties }: ImportRow): string {
  if (repeats === "answer") return answerKey(values);
  // A delay until a fixed time is a different number of seconds each day, so it can't be part of the key.
  const { delay: _delay, ...lasting } = values;
  return shortHash([lasting, properties].map((part) => Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

function shortHash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 16);
}

/** Ignores case, compatibility characters (NFKC), and the encoding of the domain. */
function addressKey(email: string): string {
  return isAscii(email) ? emailKey(email) : compatibleKey(email);
}

function compatibleKey(email: string): string {
  const key = emailKey(email.normalize("NFKC"));
  const at = key.lastIndexOf("@");
  const domain = key.slice(at + 1);
  return `${key.slice(0, at)}@${domainToASCII(domain) || domain}`;
}

/** A Map with more than 2^20 keys takes twice the memory. */
const KEYS_MAX = 1_000_000;

class KeyMap {
  private readonly maps = [new Map<string, number>()];

  get(key: string): number | undefined {
    for (const map of this.maps) {
      const line = map.get(key);
      if (line !== undefined) return line;
    }
    return undefined;
  }

  /** The key must be new; checking for that here would take a tenth of the time of the whole check. */
  add(key: string, line: number): void {
    if ((this.maps[0]?.size ?? 0) >= KEYS_MAX) this.maps.unshift(new Map());
    this.maps[0]?.set(key, line);
  }

  replace(key: string, line: number): void {
    this.maps.find((map) => map.has(key))?.set(key, line);
  }
}
