import type { Deps } from "./deps.ts";

/** One line on stderr about what was done or left out; `--quiet` silences it. */
export async function writeNote({ streams, options }: Pick<Deps, "streams" | "options">, text: string): Promise<void> {
  if (!options.quiet) await streams.err.write(`note: ${text}\n`);
}

/** One line on stderr that says what was done, a whole sentence; `--quiet` silences it. */
export async function writeDone({ streams, options }: Pick<Deps, "streams" | "options">, text: string): Promise<void> {
  if (!options.quiet) await streams.err.write(`${text}\n`);
}

/** One line on stderr about input that will not do what it seems to; `--quiet` silences it. */
export async function writeWarning(
  { streams, options }: Pick<Deps, "streams" | "options">,
  text: string,
): Promise<void> {
  if (!options.quiet) await streams.err.write(`warning: ${text}\n`);
}

/** `4,872`. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 response`, `4,872 responses`. */
export function countOf(count: number, one: string, many: string): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
