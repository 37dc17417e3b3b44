import { UsageError } from "../errors/usage-error.ts";

/** Flags by their long names; a switch without its `no-`. */
export interface Flags {
  /** For a switch, in either form. */
  has(flag: string): boolean;
  is(flag: string): boolean;
  /** True after `--no-send` for `isOff("--send")`. */
  isOff(flag: string): boolean;
  text(flag: string): string | null;
  all(flag: string): readonly string[];
  count(flag: string): number;
  parse<Value>(flag: string, parser: (text: string, flag: string) => Value): Value | null;
}

/** `values` are commander's, with camel-cased names. */
export function createFlags(values: Readonly<Record<string, unknown>>): Flags {
  const value = (flag: string): unknown => values[toKey(flag)];
  const text = (flag: string): string | null => {
    const found = value(flag);
    return typeof found === "string" ? found : null;
  };
  return {
    has: (flag) => {
      const found = value(flag.replace(/^--no-/, "--"));
      return Array.isArray(found)
        ? found.length > 0
        : flag.startsWith("--no-")
          ? found === false
          : found !== undefined && found !== false;
    },
    is: (flag) => value(flag) === true,
    isOff: (flag) => value(flag) === false,
    text,
    all: (flag) => {
      const found = value(flag);
      return Array.isArray(found) ? found.map(String) : [];
    },
    count: (flag) => {
      const found = value(flag);
      return typeof found === "number" ? found : 0;
    },
    parse: (flag, parser) => {
      const found = text(flag);
      return found === null ? null : parser(found, flag);
    },
  };
}

function toKey(flag: string): string {
  if (flag.startsWith("--no-")) throw new Error(`${flag} is read by its name without "no-"`);
  return flag.replace(/^--/, "").replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The parser keeps the last of a switch and its `--no-` form. Throws UsageError for both. */
export function rejectConflict(commandLine: readonly string[], flag: `--${string}`): void {
  const off = flag.replace("--", "--no-");
  if (commandLine.includes(flag) && commandLine.includes(off))
    throw new UsageError(`${flag} and ${off} cannot be used together`);
}
