import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Properties } from "../../../contract/resources.ts";
import type { PersonRow } from "../ports.ts";
import { storedProperties } from "./stored-properties.ts";

/** The overwritten values: a name, and properties of which null was added. */
export interface Before {
  readonly name?: string | null;
  readonly properties?: Properties;
}

/** What a write changed; `undo` is for `undoWrites`. */
export interface PersonWrite {
  /** Null for a new person. */
  readonly before: Before | null;
  readonly undo: Readonly<Record<string, string | number | null>>;
}

export function describeWrite(old: PersonRow | null, person: PersonRow, more: PersonWrite["undo"]): PersonWrite {
  const undo = { ...fingerprints(person), created: person.createdAt, ...more };
  return { before: old === null ? null : overwritten(old, person), undo };
}

function overwritten(old: PersonRow, person: PersonRow): Before {
  const [stored, now] = [old, person].map((row) => new Map(Object.entries(storedProperties(row))));
  const keys = new Set([...(stored?.keys() ?? []), ...(now?.keys() ?? [])]);
  const changed = [...keys].filter((key) => !isDeepStrictEqual(stored?.get(key), now?.get(key)));
  return {
    ...(old.name !== person.name && { name: old.name }),
    ...(changed.length > 0 && {
      properties: Object.fromEntries(changed.map((key) => [key, stored?.get(key) ?? null])),
    }),
  };
}

/** `values` changes with the name and properties, `state` with all that a write can set. */
export function fingerprints({ email, phoneNumber, name, properties, lastSentAt }: PersonRow) {
  const values = digest([name, properties]);
  return { values, state: digest([values, email, phoneNumber, lastSentAt]) };
}

function digest(values: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(values)).digest("base64url").slice(0, 16);
}
