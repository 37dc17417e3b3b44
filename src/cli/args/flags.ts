import { UsageError } from "../errors/usage-error.ts";

export class Flags {
  readonly #values: Readonly<Record<string, unknown>>;

  /** `values` comes from commander and has camel-cased names. */
  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  #value(flag: string): unknown {
    if (flag.startsWith("--no-")) throw new Error(`${flag} is read by its name without "no-"`);
    return this.#values[flag.replace(/^--/, "").replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
  }

  has(flag: string): boolean {
    const found = this.#value(flag.replace(/^--no-/, "--"));
    if (Array.isArray(found)) return found.length > 0;
    return flag.startsWith("--no-") ? found === false : found !== undefined && found !== false;
  }

  is(flag: string): boolean {
    return this.#value(flag) === true;
  }

  isOff(flag: string): boolean {
    return this.#value(flag) === false;
  }

  text(flag: string): string | null {
    const found = this.#value(flag);
    return typeof found === "string" ? found : null;
  }

  all(flag: string): readonly string[] {
    const found = this.#value(flag);
    return Array.isArray(found) ? found.map(String) : [];
  }

  count(flag: string): number {
    const found = this.#value(flag);
    return typeof found === "number" ? found : 0;
  }

  parse<Value>(flag: string, parser: (text: string, flag: string) => Value): Value | null {
    const found = this.text(flag);
    return found === null ? null : parser(found, flag);
  }
}

/** Throws UsageError if a switch and its `--no-` form are both given, because the parser would keep the last one. */
export function rejectConflict(commandLine: readonly string[], flag: `--${string}`): void {
  const off = flag.replace("--", "--no-");
  if (commandLine.includes(flag) && commandLine.includes(off))
    throw new UsageError(`${flag} and ${off} cannot be used together`);
}
