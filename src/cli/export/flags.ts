/** The flags that every `export` has. */
import { PER_PAGE_MAX } from "../../contract/limits.ts";
import type { FlagRecord } from "../args/flag-record.ts";
import type { Flags } from "../args/flags.ts";
import { parseInteger } from "../args/values.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { ExportFlags } from "./request.ts";

export const EXPORT_EXITS: readonly ExitCode[] = [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused, EXIT.interrupted];

/** `hasState`: the list can be filtered by time, so a run can go on from the last one. */
export function exportFlags({ hasState }: { readonly hasState: boolean }): readonly FlagRecord[] {
  return [
    { flag: "--out", value: "file", text: "write to a file, atomically", otherwise: "standard output" },
    { flag: "--gzip", text: "compress; adds .gz to the name" },
    { flag: "--append", text: "add to the file instead of replacing it" },
    ...(hasState ? [STATE_FLAG] : []),
    { flag: "--flatten", text: "one more column for each property found" },
    { flag: "--checksum", text: "write <file>.sha256 as well" },
    { flag: "--per-page", value: "n", text: `page size, 1 to ${PER_PAGE_MAX}`, otherwise: String(PER_PAGE_MAX) },
  ];
}

const STATE_FLAG: FlagRecord = {
  flag: "--state",
  value: "file",
  text: "record how far this run came; export only what is new or changed since",
};

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
