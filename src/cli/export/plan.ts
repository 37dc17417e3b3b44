/** Everything about an export that can be decided, and refused, before anything is opened or sent. */
import path from "node:path";
import type { PageEncoder } from "../../bulk/export/run-export.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import type { Deps } from "../command/deps.ts";
import { UsageError } from "../errors/usage-error.ts";
import { selectColumns, type Column } from "../render/columns.ts";
import { createEncoder, type EncodedFormat } from "../render/encoders.ts";
import type { ExportFlags, ExportRequest } from "./request.ts";

const FORMATS: readonly EncodedFormat[] = ["csv", "tsv", "json", "ndjson"];

export interface ExportPlan {
  readonly format: EncodedFormat;
  readonly gzip: boolean;
  /** Null: stdout. */
  readonly file: string | null;
  /** Null: whole rows as JSON. */
  readonly columns: readonly Column[] | null;
}

/** Throws `UsageError` for flags that do not fit together. */
export function planExport(deps: Deps, request: ExportRequest, flags: ExportFlags): ExportPlan {
  const format = chooseExportFormat(deps, flags.out);
  const asJson = format === "json" || format === "ndjson";
  const selected = selectColumns(request.resource, deps.options.columns);
  checkFlags(flags, format, request);
  const gzip = flags.gzip || hasGz(flags.out ?? "");
  if (gzip && toStdout(flags.out) && deps.streams.out.isTTY)
    throw new UsageError("--gzip writes binary data, which a terminal cannot show");
  const file = toStdout(flags.out) ? null : withGz(flags.out ?? "", gzip);
  if (file !== null && flags.state !== null)
    refuseSameFile(flags.state, flags.checksum ? [file, `${file}.sha256`] : [file]);
  return {
    format,
    gzip,
    file,
    columns: asJson && deps.options.columns === null ? null : selected,
  };
}

/** The pages' texts; `header` stands before them unless they are added to a file that has one. */
export function createPageEncoder(
  deps: Deps,
  { format, columns }: Pick<ExportPlan, "format" | "columns">,
  flags: ExportFlags,
  header: boolean,
): PageEncoder {
  const { time, timeZone: zone } = deps.options;
  const { crlf, excelSafe } = flags;
  const create = (): ReturnType<typeof createEncoder> =>
    createEncoder({
      format,
      columns,
      time,
      zone,
      now: unixSeconds(deps.clock),
      header,
      crlf,
      bom: flags.bom && header,
      excelSafe,
    });
  const encoder = create();
  if (format !== "json")
    return { head: encoder.head(), between: "", rows: (page) => encoder.rows(page), tail: () => encoder.tail() };
  // The array's commas depend on what stands before, and pages are encoded in whatever order they come.
  return {
    head: encoder.head(),
    between: ",",
    rows: (page) => create().rows(page),
    tail: (rows) => (rows === 0 ? "]\n" : "\n]\n"),
  };
}

function chooseExportFormat({ options }: Deps, out: string | null): EncodedFormat {
  if (options.output === "table" || options.output === "record")
    throw new UsageError(
      `--output ${options.output} is no format of a file; the formats are csv, tsv, json and ndjson`,
    );
  if (options.output !== null) return options.output;
  const ending = /\.([a-z]+)(?:\.gz)?$/i.exec(out ?? "")?.[1]?.toLowerCase();
  return FORMATS.find((format) => format === ending) ?? "csv";
}

/** Names that the system has for stdout; through them a terminal would get its control characters raw. */
const STDOUT_NAMES: ReadonlySet<string | null> = new Set([null, "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]);

function toStdout(out: string | null): boolean {
  return STDOUT_NAMES.has(out);
}

function refuseSameFile(state: string, written: readonly string[]): void {
  const clash = written.some((file) => path.resolve(file) === path.resolve(state));
  refuse(clash, `--state: ${state} is what the export is written to; the state needs a file of its own`);
}

function withGz(file: string, gzip: boolean): string {
  return gzip && !hasGz(file) ? `${file}.gz` : file;
}

function hasGz(file: string): boolean {
  return /\.gz$/i.test(file);
}

function checkFlags(flags: ExportFlags, format: EncodedFormat, { incremental, command }: ExportRequest): void {
  const asJson = format === "json" || format === "ndjson";
  refuse(flags.out === "", "--out needs the name of a file");
  refuse(flags.checksum && toStdout(flags.out), "--checksum needs --out: the checksum is written beside the file");
  refuse(flags.append && toStdout(flags.out), "--append needs --out: it adds to a file");
  refuse(
    flags.append && format === "json",
    "--append cannot add to a JSON array",
    "ndjson, csv and tsv are formats of lines",
  );
  refuse(
    flags.append && flags.flatten,
    "--append and --flatten exclude each other: later rows may bring columns that the file has not",
    "name the columns with --columns, as in person_properties.plan",
  );
  refuse(flags.flatten && asJson, "--flatten makes columns, for csv and tsv; json and ndjson keep maps as they are");
  refuse(
    flags.state !== null && incremental === null,
    `${command} has no --state: its list cannot be filtered by time`,
  );
  refuse(asJson && (flags.bom || flags.crlf || flags.excelSafe), "--bom, --crlf and --excel-safe are for csv and tsv");
}

function refuse(when: boolean, message: string, hint?: string): void {
  if (when) throw new UsageError(message, hint === undefined ? {} : { hint });
}
