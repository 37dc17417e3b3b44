/** The flags that every `export` has. */
import type { Command } from "commander";
import { PER_PAGE_MAX } from "../../contract/limits.ts";
import type { Flags } from "../args/flags.ts";
import { parseInteger } from "../args/numbers.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { ExportFlags } from "./request.ts";

export const EXPORT_EXITS: readonly ExitCode[] = [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused, EXIT.interrupted];

/** `hasState`: the list can be filtered by time, so a run can go on from the last one. */
export function addExportFlags(command: Command, { hasState }: { readonly hasState: boolean }): Command {
  command
    .option("--out <file>", "write to a file, atomically (default: standard output)")
    .option("--gzip", "compress; adds .gz to the name")
    .option("--append", "add to the file instead of replacing it");
  if (hasState)
    command.option("--state <file>", "record how far this run came; export only what is new or changed since");
  return command
    .option("--flatten", "one more column for each property found")
    .option("--checksum", "write <file>.sha256 as well")
    .option("--per-page <n>", `page size, 1 to ${PER_PAGE_MAX} (default: ${PER_PAGE_MAX})`);
}

/** Throws UsageError. */
export function readExportFlags(flags: Flags): ExportFlags {
  return {
    out: flags.text("--out"),
    gzip: flags.is("--gzip"),
    append: flags.is("--append"),
    state: flags.text("--state"),
    flatten: flags.is("--flatten"),
    checksum: flags.is("--checksum"),
    perPage: flags.parse("--per-page", (text, place) => parseInteger(text, place, { min: 1, max: PER_PAGE_MAX })),
  };
}

/** Filters as the user wrote them: "7d" stays the same filter from night to night. */
export function describeFilters(flags: Flags, names: readonly string[]): string {
  return names
    .flatMap((name) =>
      [flags.text(name), ...flags.all(name)].map((value) => (value === null ? "" : `${name} ${value}`)),
    )
    .filter((text) => text !== "")
    .join(" ");
}
