/** Value types by placeholder. Other placeholders mean a string, and a flag without a value is a boolean. */
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

/** The parser's result, or without a parser, one of the choices or the text as typed. */
export type ParsedOf<Spec> = Spec extends { readonly parse: (...given: never[]) => infer Value }
  ? Awaited<Value>
  : Spec extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : string;

/** The parser, help, `help --json`, the man page and completion all read the same record. */
export interface FlagRecord {
  readonly flag: `--${string}`;
  readonly short?: `-${string}`;
  readonly value?: string;
  /** Used if the flag is given without a value. Other flags with a value require one. */
  readonly implied?: string;
  readonly text: string;
  readonly default?: string;
  /** What happens without the flag, for help only. */
  readonly otherwise?: string;
  readonly environment?: string;
  readonly choices?: readonly string[];
  /** Values offered by completion; others are accepted too. */
  readonly suggestions?: readonly string[];
  readonly repeatable?: boolean;
  readonly counted?: boolean;
  readonly required?: true;
  readonly conflicts?: readonly `--${string}`[];
  /** At least one of these flags must be given as well. */
  readonly requires?: readonly `--${string}`[];
}

/** `flag` defaults to the key in kebab case: `newEmail` and `new_email` become `--new-email`. */
export interface KeyedRecord extends Omit<FlagRecord, "flag">, Partial<Pick<FlagRecord, "flag">> {}

export function flagOf(key: string): `--${string}` {
  return `--${key.replace(/_|(?=[A-Z])/g, "-").toLowerCase()}`;
}

export function recordsByKey(records: Readonly<Record<string, KeyedRecord>>): readonly FlagRecord[] {
  return Object.entries(records).map(([key, record]) => ({ flag: flagOf(key), ...record }));
}

export function typeOf(value: string | undefined): string {
  return value === undefined ? "boolean" : (VALUE_TYPES[value] ?? "string");
}

export function formOf({ flag, short, value, implied }: FlagRecord): string {
  const operand = value === undefined ? "" : implied === undefined ? ` <${value}>` : ` [${value}]`;
  return `${short === undefined ? "" : `${short}, `}${flag}${operand}`;
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

export function withNotes(text: string, notes: readonly string[]): string {
  if (notes.length === 0) return text;
  return text.endsWith(")") ? `${text.slice(0, -1)}; ${notes.join("; ")})` : `${text} (${notes.join("; ")})`;
}
