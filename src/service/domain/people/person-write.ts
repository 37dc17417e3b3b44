import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Properties } from "../../../contract/resources.ts";
import type { PersonRow } from "../ports.ts";
import { storedProperties } from "./stored-properties.ts";

/** Properties that the write added are null. */
export interface Before {
  readonly name?: string | null;
  readonly properties?: Properties;
}

/** What a write changed; `undo` is for `undoWrites`. */
export interface PersonWrite {
  /** Null for a new person. */
  readonly before: Before | null;
  readonly undo: Readonly<Record<string, string | number | null | readonly string[]>>;
}

const UNRESTORED = [
  ["email", "email"],
  ["phoneNumber", "phone_number"],
  ["lastSentAt", "last_sent_at"],
] as const;

export function describeWrite(
  old: PersonRow | null,
  person: PersonRow,
  more: PersonWrite["undo"],
  isMemberChanged = false,
): PersonWrite {
  const fields = UNRESTORED.filter(([field]) => old !== null && old[field] !== person[field]);
  const stays = [...fields.map(([, name]) => name), ...(isMemberChanged ? ["member_properties"] : [])];
  const counted = { values: fingerprint(person), writes: person.writes, created: person.createdAt };
  const undo = { ...counted, ...more, ...(stays.length > 0 && { stays }) };
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

/** Changes with every write that gives a name or properties. */
export function fingerprint({ name, properties, valueWrites }: PersonRow): string {
  const values = JSON.stringify([name, properties, valueWrites]);
  return createHash("sha256").update(values).digest("base64url").slice(0, 16);
}
