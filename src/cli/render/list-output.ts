import type { OutputFormat } from "../args/global-options.ts";
import { UsageError } from "../errors/usage-error.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { RowPage } from "../../contract/row-page.ts";
import {
  selectColumns,
  type Resource,
  timeFieldsOf,
  withFound,
  type ListOutput,
  type RenderContext,
} from "./columns.ts";
import { createEncoder, type EncodedFormat, isJson } from "./encoders.ts";
import { writeText } from "./safe-text.ts";

export function chooseFormat({ streams, options }: RenderContext, defaultFormat?: OutputFormat): OutputFormat {
  return options.output ?? (options.excel ? "csv" : defaultFormat) ?? (streams.out.isTTY ? "table" : "tsv");
}

/** True if the output is for people to read, so that tables can follow a record. */
export function isPage(context: RenderContext): boolean {
  return ["table", "record"].includes(chooseFormat(context)) && context.options.columns === null;
}

/** Throws UsageError for unknown `--columns`, so call it before sending anything. */
export async function openListOutput(
  context: RenderContext,
  { resource, defaultFormat, wrap = false, live = false, count = false }: ListOutputOptions,
): Promise<ListOutput> {
  if (count) return openCount(context);
  const format = chooseFormat(context, defaultFormat);
  checkCsvFlags(context, format);
  if (format === "record") {
    const { openRecords } = await import("./record-table.ts");
    return openRecords(context, resource);
  }
  if (format === "markdown") {
    const { openMarkdown } = await import("./markdown.ts");
    return openMarkdown(context, resource);
  }
  if (format !== "table") return openEncoded(context, resource, format);
  const { openTableOutput } = await import("./table.ts");
  return openTableOutput(context, resource, { wrap, live });
}

/** Pass a RowPage instead of rows if the JSON output differs from the rows. */
export async function writeList(
  context: RenderContext,
  options: ListOutputOptions,
  list: readonly JsonObject[] | RowPage,
): Promise<void> {
  const output = await openListOutput(context, options);
  await output.write("text" in list ? list : { rows: list, text: JSON.stringify(list) });
  await output.end();
}

export interface ListOutputOptions {
  readonly resource: Resource;
  readonly defaultFormat?: OutputFormat;
  readonly wrap?: boolean;
  /** True if the first row determines the column widths. */
  readonly live?: boolean;
  readonly count?: boolean;
}

function openCount({ streams }: RenderContext): ListOutput {
  let rows = 0;
  return {
    write: async (page) => void (rows += page.rows.length),
    end: () => streams.out.write(`${rows}\n`),
  };
}

export function checkCsvFlags({ options }: RenderContext, format: OutputFormat | "parquet"): void {
  if (format === "csv" || format === "tsv" || !options.excel) return;
  throw new UsageError("--excel is for csv and tsv", { hint: "add -o csv" });
}

async function openEncoded(
  { streams, clock, options }: RenderContext,
  resource: Resource,
  format: EncodedFormat,
): Promise<ListOutput> {
  const selected = selectColumns(resource, options.columns);
  const encoder = createEncoder({
    format,
    stringify: format === "csv" ? (await import("csv-stringify/sync")).stringify : null,
    columns: isJson(format) && options.columns === null ? null : selected,
    timeFields: timeFieldsOf(resource),
    time: options.time,
    zone: options.timeZone,
    now: unixSeconds(clock),
    indent: streams.out.isTTY,
    excel: options.excel,
  });
  let { head } = encoder;
  let written = 0;
  const write = async (text: string): Promise<void> => {
    const all = head + text;
    head = "";
    if (all !== "") await writeText(streams.out, all);
  };
  return {
    write(page) {
      const between = written > 0 && page.rows.length > 0 ? encoder.between : "";
      written += page.rows.length;
      return write(between + encoder.rows(page));
    },
    end: () => write(encoder.tail(written)),
  };
}

/** If rows can add columns, nothing is written until the last row is known. */
export async function openGrowingOutput(context: RenderContext, options: ListOutputOptions): Promise<ListOutput> {
  const { resource } = options;
  const output = await openListOutput(context, options);
  const format = chooseFormat(context, options.defaultFormat);
  const isFixed = (format !== "csv" && format !== "tsv") || context.options.columns !== null;
  if (isFixed || resource.found === undefined) return output;
  const waiting: RowPage[] = [];
  let waits: boolean | null = null;
  return {
    write(page, mayGrow = false) {
      waits ??= mayGrow || (resource.found?.in(page.rows) ?? []).length > 0;
      if (!waits) return output.write(page);
      waiting.push(page);
      return Promise.resolve();
    },
    async end() {
      if (waits !== true) return output.end();
      const rows = waiting.flatMap((page) => page.rows);
      const grown = await openListOutput(context, { ...options, resource: withFound(resource, rows) });
      for (const page of waiting) await grown.write(page);
      await grown.end();
    },
  };
}
