/** A flag as data. The parser, help, `help --json`, the man page and completion read the same record. */

/** Types of values, by their name in help. A flag without a value is a boolean, other values are strings. */
const VALUE_TYPES: Readonly<Record<string, string>> = {
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

/** What the parser of a flag or argument returns; without one, one of its choices, else the text as typed. */
export type ParsedOf<Spec> = Spec extends { readonly parse: (...given: never[]) => infer Value }
  ? Awaited<Value>
  : Spec extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : string;

export interface FlagRecord {
  /** `--no-send` turns off what is on by default. */
  readonly flag: `--${string}`;
  readonly short?: `-${string}`;
  /** The value's name in help; a switch has none. */
  readonly value?: string;
  /** One phrase, which doesn't repeat the other fields. */
  readonly text: string;
  /** The parser supplies it. */
  readonly default?: string;
  /** What happens without the flag, for help only. */
  readonly otherwise?: string;
  readonly environment?: string;
  readonly choices?: readonly string[];
  /** For completion; other values are accepted. */
  readonly suggestions?: readonly string[];
  readonly repeatable?: boolean;
  readonly counted?: boolean;
  readonly required?: true;
  readonly conflicts?: readonly `--${string}`[];
  /** At least one of them must be given. */
  readonly requires?: readonly `--${string}`[];
}

export function typeOf(value: string | undefined): string {
  return value === undefined ? "boolean" : (VALUE_TYPES[value] ?? "string");
}

export function formOf({ flag, short, value }: FlagRecord): string {
  return `${short === undefined ? "" : `${short}, `}${flag}${value === undefined ? "" : ` <${value}>`}`;
}

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

/** Merges the notes into parentheses that end the text. */
export function withNotes(text: string, notes: readonly string[]): string {
  if (notes.length === 0) return text;
  return text.endsWith(")") ? `${text.slice(0, -1)}; ${notes.join("; ")})` : `${text} (${notes.join("; ")})`;
}
