import type { FlagRecord } from "../args/flag-record.ts";
import type { FlagGroup } from "./flag-spec.ts";

/** A flag whose values are lists with commas, and that may be repeated; null if it wasn't given. */
export function listFlag<Value>(
  record: FlagRecord,
  parse: (texts: readonly string[], place: string) => readonly Value[],
): FlagGroup<readonly Value[] | null> {
  const { flag } = record;
  return {
    records: [{ ...record, repeatable: true }],
    read: (flags) => (flags.has(flag) ? [...new Set(parse(flags.all(flag), flag))] : null),
  };
}
