/** Draws records as names and values, one block per row, like `\x` in psql. */
import { isJsonObject, type Json, type JsonObject } from "../../contract/json.ts";
import { withAllDigits } from "../../contract/long-numbers.ts";
import {
  pathColumn,
  recordColumns,
  type Column,
  type Resource,
  type ListOutput,
  type RenderContext,
} from "./columns.ts";
import { drawGrid, GAP } from "./grid.ts";
import { createPaint, toHumanText, toneOf } from "./human.ts";
import { toSafeText } from "./safe-text.ts";
import { createTextMeasure, type FittedText } from "./text-measure.ts";
import { type TimeFormatter, timeFormatterFor } from "./time.ts";

/** Narrower than this, a column of values isn't worth drawing. */
const VALUE_WIDTH_MIN = 20;

export function drawRecord(context: RenderContext, resource: Resource, json: JsonObject): string {
  const { streams, options } = context;
  const columns = shownColumns(resource, options.columns, json);
  const measure = createTextMeasure(options.unicode);
  const paint = createPaint(options.color);
  const time = timeFormatterFor(context, "local");
  const names = columns.map(({ name }) => toSafeText(name));
  const width = Math.max(0, ...names.map((name) => measure.width(name)));
  const room = streams.out.isTTY ? Math.max(streams.out.columns - width - GAP.length, VALUE_WIDTH_MIN) : Infinity;
  const rows = columns.flatMap((column, index) => {
    const value = column.read(json);
    const tone = toneOf(column, value, json);
    return toLines(column, value, time)
      .map((line) => (line || (options.unicode ? "–" : "-")) + (column.addition ?? ""))
      .flatMap((line) => measure.wrap(line, room, false))
      .map((line, at): readonly [FittedText, FittedText] => [
        measure.fit(at === 0 ? (names[index] ?? "") : "", width, paint.heading),
        { text: paint.cell(line, tone, column.spans), width: measure.width(line) },
      ]);
  });
  const widest = Math.max(0, ...rows.map(([, value]) => value.width));
  return drawGrid(
    [width, widest].map((each) => ({ width: each, align: "left" })),
    rows,
  );
}

function shownColumns(resource: Resource, names: readonly string[] | null, json: JsonObject): readonly Column[] {
  const columns = recordColumns(resource, names, json);
  const { found } = resource;
  if (names !== null || found === undefined || found.in([json]).length === 0) return columns;
  return columns.filter(({ name }) => name !== found.insteadOf);
}

/** A list of objects has a line for each, such as `name=smtp, state=held`. */
function toLines(column: Column, value: Json | undefined, time: TimeFormatter): string[] {
  const isList = Array.isArray(value) && value.some((item) => isJsonObject(item) && typeof item["text"] !== "string");
  if (!isList) return [toHumanText(column, value, time)];
  return value.map((item) => {
    if (!isJsonObject(item)) return toHumanText(column, item, time);
    const known = Object.entries(item).filter(([, part]) => part !== null);
    return known.map(([name, part]) => `${name}=${toHumanText(pathColumn(name), part, time)}`).join(", ");
  });
}

const RULE_WIDTH = 40;

export function openRecords(context: RenderContext, resource: Resource): ListOutput {
  const { streams, options } = context;
  recordColumns(resource, options.columns, {});
  let written = 0;
  return {
    async write(page) {
      const blocks = withAllDigits(page).map((row) => {
        written += 1;
        const rule = `-[ RECORD ${written} ]`.padEnd(RULE_WIDTH, "-");
        return `${rule}\n${drawRecord(context, resource, row)}`;
      });
      await streams.out.write(blocks.join(""));
    },
    async end() {
      if (written === 0 && streams.out.isTTY && !options.quiet) await streams.err.write(`no ${resource.noun}\n`);
    },
  };
}
