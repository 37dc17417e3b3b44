import { flagOf, type FlagRecord, type KeyedRecord, type ParsedOf } from "../args/flag-record.ts";
import type { Flags } from "../args/flags.ts";
import { parseChoice } from "../args/values.ts";
import type { Deps } from "./deps.ts";

export interface ValueSpec {
  readonly choices?: readonly string[];
  readonly parse?: (text: string, place: string, deps: Deps) => unknown;
}

export interface FlagSpec extends KeyedRecord, ValueSpec {}

/** Flags that are parsed together, such as `--since`, `--until` and `--period`. */
export interface FlagGroup<Value = unknown> {
  readonly records: readonly FlagRecord[];
  readonly read: (flags: Flags, deps: Deps) => Value;
}

export type FlagSpecs = Readonly<Record<string, FlagSpec | FlagGroup>>;

type ValueOf<Spec> =
  Spec extends FlagGroup<infer Value>
    ? Awaited<Value>
    : Spec extends { readonly value: string }
      ? Spec extends { readonly repeatable: true }
        ? readonly ParsedOf<Spec>[]
        : Spec extends { readonly default: string } | { readonly required: true }
          ? ParsedOf<Spec>
          : ParsedOf<Spec> | null
      : boolean;

export type ValuesOf<Specs extends FlagSpecs> = string extends keyof Specs
  ? unknown
  : { readonly [Name in keyof Specs]: ValueOf<Specs[Name]> };

export function flagGroup<const Specs extends FlagSpecs>(specs: Specs): FlagGroup<Promise<ValuesOf<Specs>>> {
  return { records: recordsOf(specs), read: (flags, deps) => readFlags(specs, flags, deps) };
}

export type GroupValue<Group> = Group extends FlagGroup<infer Value> ? Awaited<Value> : never;

export function recordsOf(specs: FlagSpecs): readonly FlagRecord[] {
  return Object.entries(specs).flatMap(([key, spec]) => ("records" in spec ? spec.records : [named(key, spec)]));
}

function named(key: string, spec: FlagSpec): FlagSpec & FlagRecord {
  return { flag: flagOf(key), ...spec };
}

export async function readFlags<Specs extends FlagSpecs>(
  specs: Specs,
  flags: Flags,
  deps: Deps,
): Promise<ValuesOf<Specs>> {
  const values: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries<FlagSpec | FlagGroup>(specs))
    values[name] = await ("records" in spec ? spec.read(flags, deps) : readFlag(named(name, spec), flags, deps));
  return values as ValuesOf<Specs>;
}

function readFlag(spec: FlagSpec & FlagRecord, flags: Flags, deps: Deps): unknown {
  const { flag, value, repeatable } = spec;
  if (value === undefined) return flag.startsWith("--no-") ? flags.isOff(`--${flag.slice(5)}`) : flags.is(flag);
  if (repeatable === true) return Promise.all(flags.all(flag).map((text) => readValue(spec, text, flag, deps)));
  return flags.parse(flag, (text) => readValue(spec, text, flag, deps));
}

export function readValue({ choices, parse }: ValueSpec, text: string, place: string, deps: Deps): unknown {
  if (parse !== undefined) return parse(text, place, deps);
  return choices === undefined ? text : parseChoice(text, place, choices);
}

/** A flag that takes comma-separated lists and can be repeated. Null if it wasn't given. */
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
