import type { PagedList, Range, RowKeys } from "../../bulk/export/lists.ts";
import type { VersionKeys } from "../../bulk/export/versions.ts";
import type { Client } from "../../client/client.ts";
import type { JsonObject } from "../../contract/json.ts";
import { PER_PAGE_MAX } from "../../contract/limits.ts";
import type { RowPage } from "../../contract/row-page.ts";
import type { Flags } from "../args/flags.ts";
import { type OutputFormat, readOutput } from "../args/global-options.ts";
import { parseOutputFile, parsePageSize } from "../args/values.ts";
import { type FlagGroup, flagGroup, type GroupValue } from "../kit/flag-spec.ts";
import { UsageError } from "../errors/usage-error.ts";
import { API_EXITS, EXIT, type ExitCode } from "../exit-codes.ts";
import { keysOf } from "./sources.ts";
import type { Column, Resource } from "../render/columns.ts";

export interface ExportSource {
  readonly list: (client: Client, perPage: number) => PagedList;
  readonly keys: RowKeys;
  readonly range: Range;
}

export interface UnstampedRows {
  readonly source: ExportSource;
  readonly has: (row: JsonObject) => boolean;
}

export interface FlatColumns {
  readonly find: (row: JsonObject) => readonly string[];
  readonly column: (name: string) => Column;
}

export interface ExportRequest {
  readonly command: string;
  readonly resource: Resource;
  readonly source: ExportSource;
  readonly filterText: string;
  /** Null if the list can't be filtered by time, so `--state` isn't available. */
  readonly incremental: {
    readonly source: (since: number) => ExportSource;
    /** Lists new rows without `updated_at`, which `source` might miss. */
    readonly unstamped: ((since: number) => UnstampedRows | null) | null;
    readonly versions: VersionKeys;
    /** The time up to which a run is complete, given the service's time; both in Unix seconds. */
    readonly watermark: (now: number) => number;
  } | null;
  readonly count: ServiceCount | null;
  readonly flat: FlatColumns | null;
  readonly shaping?: ExportShaping | null;
}

interface ServiceCount {
  readonly ask: (
    client: Client,
    range: { readonly since: number | null; readonly until: number },
    signal: AbortSignal,
  ) => Promise<number | null>;
  readonly isCounted: (row: JsonObject) => boolean;
}

export interface ExportShaping {
  readonly filterPage: ((page: RowPage) => RowPage) | null;
  /** If set, pages are read one after the other, so that the same list always gives the same file. */
  readonly rewrite: ((page: RowPage) => RowPage) | null;
  readonly writeNotes: () => Promise<void>;
}

export const EXPORT_EXITS: readonly ExitCode[] = [...API_EXITS, EXIT.interrupted, EXIT.terminated];

const EXPORT_FORMATS = ["csv", "tsv", "json", "ndjson", "parquet"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

const OUTPUT: FlagGroup<OutputFormat | "parquet" | null> = {
  records: [
    {
      flag: "--output",
      short: "-o",
      value: "format",
      text: "file format",
      choices: EXPORT_FORMATS,
      environment: "SURVEYCTL_OUTPUT",
      otherwise: "from the file name, or csv",
    },
    { flag: "--json", text: "short for -o json" },
  ],
  read: (flags, { env }) => readOutput(flags, env, "parquet"),
};

/** `later` describes what later runs export; null if the list can't be filtered by time. */
export function exportFile(later: "new" | "new or changed" | null) {
  const group = flagGroup({
    output: OUTPUT,
    out: {
      value: "file",
      text: "write to a file, atomically",
      otherwise: "standard output",
      parse: parseOutputFile,
    },
    gzip: { text: "compress; adds .gz to the name", conflicts: ["--query"] },
    append: { text: "add to the file instead of replacing it" },
    state: {
      value: "file",
      text: `record how far this run got; export only what is ${later} since`,
      parse: parseOutputFile,
    },
    flatten: { text: "add a column for each property found" },
    checksum: { text: "also write <file>.sha256" },
    perPage: {
      value: "n",
      text: `page size, 1 to ${PER_PAGE_MAX}`,
      otherwise: String(PER_PAGE_MAX),
      parse: parsePageSize,
    },
  });
  return { ...group, records: group.records.filter(({ flag }) => flag !== "--state" || later !== null) };
}

export type ExportFlags = GroupValue<ReturnType<typeof exportFile>>;

export function chooseExportFormat({ output, out }: ExportFlags): ExportFormat {
  if (output === "table" || output === "record" || output === "markdown")
    throw new UsageError(`--output ${output} is not a file format; use csv, tsv, json, ndjson or parquet`);
  if (output !== null) return output;
  const ending = /\.([a-z]+)(?:\.gz)?$/i.exec(out ?? "")?.[1]?.toLowerCase();
  return EXPORT_FORMATS.find((format) => format === ending) ?? "csv";
}

/** Records filters as typed, so that `7d` is the same filter every night. */
export function textOfFilters(...names: readonly string[]): FlagGroup<string> {
  const describe = (flags: Flags): string => {
    const values = names.flatMap((name) =>
      [flags.text(name) ?? [], flags.all(name)].flat().map((value) => `${name} ${value}`),
    );
    return [...values, ...names.filter((name) => flags.is(name))].join(" ");
  };
  return { records: [], read: describe };
}

interface RangeRows extends Pick<ExportRequest, "command" | "resource">, Pick<ExportSource, "list"> {
  readonly idField: string;
  readonly timeField: string;
}

/** For bounces, unsubscribes and people, which are listed by a time that never changes. */
export function toRangeRequest(
  { command, resource, idField, timeField, list }: RangeRows,
  range: Range,
  filterText: string,
): ExportRequest {
  const { id, at } = keysOf(idField, timeField);
  // A person's id doesn't identify a row: a person can bounce twice.
  const source: ExportSource = { list, keys: { id: (row) => `${id(row)} ${at(row)}`, at }, range };
  return {
    command,
    resource,
    source,
    filterText,
    incremental: {
      source: (since) => ({ ...source, range: { since: Math.max(since, range.since ?? since), until: range.until } }),
      unstamped: null,
      versions: { id, at: (row) => at(row) ?? 0, content: () => "" },
      watermark: (now) => Math.min(now, range.until ?? now),
    },
    count: null,
    flat: null,
  };
}
