import type { JsonObject } from "../../contract/json.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import { withAllDigits } from "../../contract/long-numbers.ts";
import {
  recordColumns,
  selectColumns,
  timeFieldsOf,
  toCellText,
  type Resource,
  withFound,
  type RenderContext,
} from "./columns.ts";
import { createJsonWriter, toTsvLines, withExactNumbers } from "./encoders.ts";
import { indentJson } from "./json-indent.ts";
import { chooseFormat, openListOutput } from "./list-output.ts";
import { toSafeLines, writeText } from "./safe-text.ts";
import { timeFormatterFor } from "./time.ts";

export interface RecordValue {
  readonly json: JsonObject;
  readonly text: string;
}

export function asRecord(json: JsonObject): RecordValue {
  return { json, text: JSON.stringify(json) };
}

/** Throws UsageError for unknown `--columns`, so call `checkColumns` before sending anything. */
export async function writeRecord(context: RenderContext, resource: Resource, value: RecordValue): Promise<void> {
  const format = chooseFormat(context);
  if (format === "json") {
    const text = project(context, resource, value);
    const { out } = context.streams;
    return out.write(out.isTTY ? `${toSafeLines(indentJson(text))}\n` : `${text.trim()}\n`);
  }
  if (format === "markdown") {
    const [json = value.json] = withAllDigits(asRows(value));
    const { drawMarkdown } = await import("./markdown.ts");
    return context.streams.out.write(
      drawMarkdown(context, recordColumns(resource, context.options.columns, json), json),
    );
  }
  if (format === "table" || format === "record" || format === "tsv")
    return writeLines(context, resource, value, format === "tsv");
  const { columns } = context.options;
  const isWhole = resource.open === true || resource.columns.some(({ isOptional = false }) => isOptional);
  const known = columns === null ? withFound(resource, [value.json]) : resource;
  const complete: Resource = isWhole ? { ...resource, columns: recordColumns(resource, columns, value.json) } : known;
  const output = await openListOutput(context, { resource: complete });
  await output.write(asRows(value));
  await output.end();
}

export function checkColumns({ options }: RenderContext, resource: Resource): void {
  selectColumns(resource, options.columns);
}

function project({ options, clock }: RenderContext, resource: Resource, value: RecordValue): string {
  const columns = options.columns === null ? null : selectColumns(resource, options.columns);
  const write = createJsonWriter({
    columns,
    timeFields: timeFieldsOf(resource),
    time: options.time,
    zone: options.timeZone,
    now: unixSeconds(clock),
  });
  return write === null ? value.text : withExactNumbers(asRows(value), (rows) => rows.map(write)).join("");
}

function asRows({ json, text }: RecordValue): { rows: readonly JsonObject[]; text: string } {
  return { rows: [json], text: `[${text}]` };
}

async function writeLines(
  context: RenderContext,
  resource: Resource,
  value: RecordValue,
  plain: boolean,
): Promise<void> {
  const [json = value.json] = withAllDigits(asRows(value));
  if (!plain) {
    const { drawRecord } = await import("./record-table.ts");
    return context.streams.out.write(drawRecord(context, resource, json));
  }
  const columns = recordColumns(resource, context.options.columns, json);
  const { options, streams } = context;
  const time = timeFormatterFor(context, "iso");
  const cells = columns.map((column) => toCellText(column, column.read(json), time));
  const isRow = options.columns !== null && resource.namesValues !== true;
  const lines = toTsvLines(isRow ? [cells] : columns.map(({ name }, at) => [name, cells[at] ?? ""]));
  await writeText(streams.out, lines);
}
