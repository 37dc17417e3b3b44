/** A flag as a command declares it: what help shows, and how its value is parsed. */
import type { FlagRecord } from "../args/flag-record.ts";
import type { Flags } from "../args/flags.ts";
import { parseChoice } from "../args/values.ts";
import type { Deps } from "../command/deps.ts";

/** Throws a UsageError that names `place` and the accepted forms. */
type Parser<Value> = (text: string, place: string, deps: Deps) => Value;

/** One flag. Without `parse` or `choices`, its value is the text as typed. */
export interface FlagSpec extends FlagRecord {
  readonly parse?: Parser<unknown>;
}

/** Flags that are read together, such as `--since`, `--until` and `--period`. */
export interface FlagGroup<Value = unknown> {
  readonly records: readonly FlagRecord[];
  readonly read: (flags: Flags, deps: Deps) => Value;
}

export type FlagSpecs = Readonly<Record<string, FlagSpec | FlagGroup>>;

type ParsedOf<Spec> = Spec extends { readonly parse: Parser<infer Value> }
  ? Value
  : Spec extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : string;

/** Switches are booleans, repeatable flags arrays; null if a flag without a default wasn't given. */
type ValueOf<Spec> =
  Spec extends FlagGroup<infer Value>
    ? Value
    : Spec extends { readonly value: string }
      ? Spec extends { readonly repeatable: true }
        ? readonly ParsedOf<Spec>[]
        : Spec extends { readonly default: string }
          ? ParsedOf<Spec>
          : ParsedOf<Spec> | null
      : boolean;

/** Nothing if a command declares no flags. */
export type ValuesOf<Specs extends FlagSpecs> = string extends keyof Specs
  ? unknown
  : { readonly [Name in keyof Specs]: ValueOf<Specs[Name]> };

export function isGroup(spec: FlagSpec | FlagGroup): spec is FlagGroup {
  return "records" in spec;
}

export function readFlag(spec: FlagSpec | FlagGroup, flags: Flags, deps: Deps): unknown {
  if (isGroup(spec)) return spec.read(flags, deps);
  const { flag, value, choices, repeatable, parse } = spec;
  if (value === undefined) return flag.startsWith("--no-") ? flags.isOff(`--${flag.slice(5)}`) : flags.is(flag);
  const parseOne = (text: string): unknown => {
    if (choices !== undefined) parseChoice(text, flag, choices);
    return parse === undefined ? text : parse(text, flag, deps);
  };
  if (repeatable === true) return flags.all(flag).map(parseOne);
  return flags.parse(flag, parseOne);
}
