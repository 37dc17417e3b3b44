/** Lists on stdout, in whatever format was asked for. */
import type { OutputFormat } from "../args/global-options.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import { selectColumns, type Resource } from "./columns.ts";
import type { ListOutput, RenderContext } from "./context.ts";
import { createEncoder, type EncodedFormat } from "./encoders.ts";
import { toSafeLines } from "./safe-text.ts";

/** `table` on a terminal, `tsv` in a pipe, unless the user or the command says otherwise. */
export function chooseFormat({ streams, options }: RenderContext, defaultFormat?: OutputFormat): OutputFormat {
  return options.output ?? defaultFormat ?? (streams.out.isTTY ? "table" : "tsv");
}

/** Checks `--columns` at once (UsageError), so call it before anything is sent; writes nothing before the first page. */
export async function openListOutput(
  context: RenderContext,
  { resource, defaultFormat, wrap = false }: ListOutputOptions,
): Promise<ListOutput> {
  const format = chooseFormat(context, defaultFormat);
  if (format === "record") {
    const { openRecords } = await import("./record-table.ts");
    return openRecords(context, resource);
  }
  if (format !== "table") return openEncoded(context, resource, format);
  const { openTable } = await import("./table.ts");
  return openTable(context, resource, wrap);
}

export interface ListOutputOptions {
  readonly resource: Resource;
  readonly defaultFormat?: OutputFormat;
  /** Whether a table wraps text that is too wide, and does not cut it. */
  readonly wrap?: boolean;
}

function openEncoded(
  { streams, clock, options }: RenderContext,
  resource: Resource,
  format: EncodedFormat,
): ListOutput {
  const asJson = format === "json" || format === "ndjson";
  const selected = selectColumns(resource, options.columns);
  const encoder = createEncoder({
    format,
    columns: asJson && options.columns === null ? null : selected,
    time: options.time,
    zone: options.timeZone,
    now: unixSeconds(clock),
    indent: streams.out.isTTY,
  });
  let head: string | null = encoder.head();
  const write = async (text: string): Promise<void> => {
    const whole = (head ?? "") + text;
    head = null;
    if (whole !== "") await streams.out.write(streams.out.isTTY ? toSafeLines(whole) : whole);
  };
  return { write: (page) => write(encoder.rows(page)), end: () => write(encoder.tail()) };
}
