import { stringify } from "csv-stringify/sync";
import type { PageEncoder } from "../../contract/row-page.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import { isSameFile } from "../../runtime/files/file-replacement.ts";
import type { Deps } from "../kit/deps.ts";
import { UsageError } from "../errors/usage-error.ts";
import { selectColumns, type Column } from "../render/columns.ts";
import { createEncoder, isJson } from "../render/encoders.ts";
import { checkCsvFlags } from "../render/list-output.ts";
import { createParquetRows } from "./parquet-rows.ts";
import { chooseExportFormat, type ExportFlags, type ExportFormat, type ExportRequest } from "./request.ts";

export interface ExportPlan {
  readonly format: ExportFormat;
  readonly gzip: boolean;
  readonly file: string | null;
  readonly columns: readonly Column[] | null;
}

export function planExport(deps: Deps, request: ExportRequest, flags: ExportFlags): ExportPlan {
  const format = chooseExportFormat(flags);
  const selected = selectColumns(request.resource, deps.options.columns);
  const gzip = flags.gzip || hasGz(flags.out ?? "");
  checkFlags(deps, { ...flags, gzip }, format);
  checkCsvFlags(deps, format);
  const binary = format === "parquet" ? "-o parquet" : gzip ? "--gzip" : null;
  if (binary !== null && isStdout(flags.out) && deps.streams.out.isTTY)
    throw new UsageError(`${binary} writes binary data, which a terminal cannot show`);
  const out = flags.out ?? "";
  const file = isStdout(flags.out) ? null : gzip && !hasGz(out) ? `${out}.gz` : out;
  return { format, gzip, file, columns: isJson(format) && deps.options.columns === null ? null : selected };
}

export function createPageEncoder(
  deps: Deps,
  { format, columns }: Pick<ExportPlan, "format" | "columns">,
  { header = true }: { readonly header?: boolean } = {},
): PageEncoder {
  if (format === "parquet") return createParquetRows(columns ?? []);
  const { time, timeZone: zone, excel } = deps.options;
  return createEncoder({
    format,
    stringify: format === "csv" ? stringify : null,
    columns,
    time,
    zone,
    now: unixSeconds(deps.clock),
    header,
    excel,
  });
}

/** Opening one of these names on a terminal would bypass escaping. */
const STDOUT_NAMES: ReadonlySet<string | null> = new Set([null, "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]);

export function isStdout(out: string | null): boolean {
  return STDOUT_NAMES.has(out);
}

export async function refuseStateAsTarget({ file }: ExportPlan, { state, checksum }: ExportFlags): Promise<void> {
  if (file === null || state === null) return;
  for (const written of checksum ? [file, `${file}.sha256`] : [file])
    refuse(await isSameFile(written, state), `--state: ${state} is the file that the export writes; use another`);
}

function hasGz(file: string): boolean {
  return /\.gz$/i.test(file);
}

function checkFlags({ options }: Deps, flags: ExportFlags, format: ExportFormat): void {
  refuse(flags.checksum && isStdout(flags.out), "--checksum requires --out: the checksum is written next to the file");
  refuse(
    options.query !== null && !isStdout(flags.out),
    "--out and --query cannot be used together",
    "without --out, the filtered JSON goes to standard output, which > FILE redirects",
  );
  refuse(flags.append && isStdout(flags.out), "--append requires --out: it adds to a file");
  refuse(
    flags.append && format === "json",
    "--append cannot add to a JSON array",
    "ndjson, csv and tsv are formats of lines",
  );
  refuse(
    flags.append && format === "parquet",
    "--append cannot add to a Parquet file",
    "use --state with a new --out file for each run",
  );
  refuse(flags.gzip && format === "parquet", "a Parquet file is compressed already; leave out --gzip and .gz");
  refuse(
    flags.append && flags.flatten,
    "--append and --flatten cannot be used together: later rows may bring columns that the file does not have",
    "list the columns with --columns, as in person_properties.plan",
  );
  refuse(
    flags.flatten && isJson(format),
    "--flatten adds columns to csv, tsv and parquet; json and ndjson keep maps as they are",
  );
}

function refuse(when: boolean, message: string, hint?: string): void {
  if (when) throw new UsageError(message, hint === undefined ? {} : { hint });
}
