/** A flag as data: the parser, help, `help --json`, the man page and completion read this one record. */

export type ValueType =
  | "boolean"
  | "string"
  | "integer"
  | "rate"
  | "time"
  | "duration"
  | "email"
  | "phone"
  | "url"
  | "path"
  | "pair"
  | "json"
  | "list";

/** The type of a value, by the name that help gives it; text where it is none of these. */
const VALUE_TYPES: Readonly<Record<string, ValueType>> = {
  n: "integer",
  line: "integer",
  number: "integer",
  rate: "rate",
  time: "time",
  duration: "duration",
  email: "email",
  phone: "phone",
  url: "url",
  file: "path",
  "header=column": "pair",
  "key=value": "pair",
  json: "json",
  names: "list",
  groups: "list",
  objects: "list",
};

export interface FlagRecord {
  /** The long name: `--limit`; `--no-send` turns off what is on by default. */
  readonly flag: `--${string}`;
  readonly short?: `-${string}`;
  /** The name of the value in help; a flag without one is a switch. */
  readonly value?: string;
  /** The effect of the flag: one phrase, without what the other fields say. */
  readonly text: string;
  /** The value where the flag is not given: the parser supplies it. */
  readonly default?: string;
  /** The effect of leaving the flag out, for people: the parser supplies nothing. */
  readonly otherwise?: string;
  readonly environment?: string;
  readonly choices?: readonly string[];
  /** Values with a meaning, where others are accepted too. */
  readonly suggestions?: readonly string[];
  readonly repeatable?: boolean;
  readonly counted?: boolean;
  /** Leaving it out is a usage error. */
  readonly required?: true;
  /** Flags that it can't be used with. */
  readonly conflicts?: readonly `--${string}`[];
  /** Flags of which it needs at least one. */
  readonly requires?: readonly `--${string}`[];
}

/** The type of a value by its name in help; a switch has no name. */
export function typeOf(value: string | undefined): ValueType {
  return value === undefined ? "boolean" : (VALUE_TYPES[value] ?? "string");
}

/** `-L, --limit <n>`, as help shows it and the parser reads it. */
export function formOf({ flag, short, value }: FlagRecord): string {
  return `${short === undefined ? "" : `${short}, `}${flag}${value === undefined ? "" : ` <${value}>`}`;
}

/** The words of help in brackets: choices, repetition, default, variable, and the flags it does or doesn't go with. */
export function notesOf(record: Partial<FlagRecord>): string[] {
  const { choices = [], environment, conflicts = [], requires = [] } = record;
  const value = record.default ?? record.otherwise;
  return [
    ...(choices.length === 0 ? [] : [`${choices.length > 1 ? "one of " : ""}${choices.join(", ")}`]),
    ...(record.repeatable === true ? ["repeatable"] : []),
    ...(value === undefined ? [] : [`default ${value}`]),
    ...(environment === undefined ? [] : [`env ${environment}`]),
    ...(record.required === true ? ["required"] : []),
    ...(requires.length === 0 ? [] : [`requires ${requires.join(" or ")}`]),
    ...(conflicts.length === 0 ? [] : [`not with ${conflicts.join(", ")}`]),
  ];
}

/** A text and its notes: brackets that the text has at its end already are shared. */
export function withNotes(text: string, notes: readonly string[]): string {
  if (notes.length === 0) return text;
  return text.endsWith(")") ? `${text.slice(0, -1)}; ${notes.join("; ")})` : `${text} (${notes.join("; ")})`;
}
