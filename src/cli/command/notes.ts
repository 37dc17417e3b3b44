import type { Deps } from "./deps.ts";

/** One line on stderr about what was done or left out; `--quiet` silences it. */
export async function writeNote({ streams, options }: Pick<Deps, "streams" | "options">, text: string): Promise<void> {
  if (!options.quiet) await streams.err.write(`note: ${text}\n`);
}

/** One whole sentence on stderr about the result itself, without a word before it; `--quiet` silences it. */
export async function writeNotice(
  { streams, options }: Pick<Deps, "streams" | "options">,
  text: string,
): Promise<void> {
  if (!options.quiet) await streams.err.write(`${text}\n`);
}

/** One line on stderr about input that will not do what it seems to; `--quiet` silences it. */
export async function writeWarning(
  { streams, options }: Pick<Deps, "streams" | "options">,
  text: string,
): Promise<void> {
  if (!options.quiet) await streams.err.write(`warning: ${text}\n`);
}
