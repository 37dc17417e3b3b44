import Table from "cli-table3";
import type { FittedText } from "./text-measure.ts";

export const GAP = "  ";

export interface GridColumn {
  readonly width: number;
  readonly align: "left" | "right";
}

const RULES =
  "top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid";
const NO_RULES = Object.fromEntries(RULES.split(" ").map((name) => [name, ""]));

/** A private-use character, which every library measures as one cell wide. */
const FILL = "\ue000";
const FILLS = /\ue000+/g;
const ROWS_AT_ONCE = 50;

/** Draws fillers and then replaces them: cli-table3 misjudges the width of emoji and right-to-left text. */
export function drawGrid(columns: readonly GridColumn[], rows: readonly (readonly FittedText[])[]): string {
  let drawn = "";
  for (let start = 0; start < rows.length; start += ROWS_AT_ONCE)
    drawn += drawSome(columns, rows.slice(start, start + ROWS_AT_ONCE));
  return drawn;
}

function drawSome(columns: readonly GridColumn[], rows: readonly (readonly FittedText[])[]): string {
  const widths = columns.map(({ width, align }, index) => {
    // The last column isn't padded, so a narrow width avoids laying out its long text.
    return index === columns.length - 1 && align === "left" ? Math.min(width, 1) : width;
  });
  const table = new Table({
    chars: { ...NO_RULES, middle: GAP },
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [] },
    colWidths: widths,
    colAligns: columns.map(({ align }) => align),
  });
  for (const row of rows)
    table.push(row.map(({ width }, index) => FILL.repeat(Math.min(width, widths[index] ?? width))));
  const texts = rows.flatMap((row) => row.filter(({ width }) => width > 0)).values();
  const lines = table.toString().split("\n");
  return lines.map((line) => `${line.trimEnd().replace(FILLS, () => texts.next().value?.text ?? "")}\n`).join("");
}
