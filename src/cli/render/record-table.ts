import type { JsonObject } from "../../contract/json.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import type { Column } from "./columns.ts";
import type { RenderContext } from "./context.ts";
import { drawGrid } from "./grid.ts";
import { toHumanText, toneOf } from "./human.ts";
import { createPaint } from "./paint.ts";
import { toSafeText } from "./safe-text.ts";
import { createTextMeasure } from "./text-measure.ts";
import { createTimeFormatter } from "./time.ts";

/** One thing in two columns, names and values; nothing is cut. */
export function drawRecord({ options, clock }: RenderContext, columns: readonly Column[], json: JsonObject): string {
  const measure = createTextMeasure();
  const paint = createPaint(options.color);
  const time = createTimeFormatter({
    format: options.time ?? "local",
    zone: options.timeZone,
    now: unixSeconds(clock),
  });
  const names = columns.map(({ name }) => toSafeText(name));
  const width = Math.max(0, ...names.map((name) => measure.width(name)));
  const rows = columns.map((column, index) => {
    const value = column.read(json);
    const text = toHumanText(column, value, time);
    const name = measure.fit(names[index] ?? "", width, "left", paint.heading);
    return [name, text === "" ? "" : paint.tone(text, toneOf(column, value))];
  });
  return drawGrid(rows);
}
