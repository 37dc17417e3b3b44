import type { FittedText } from "./text-measure.ts";

export const GAP = "  ";

export interface GridColumn {
  readonly width: number;
  readonly align: "left" | "right";
}

/** Two spaces between columns, and none at the end of a line. */
export function drawGrid(columns: readonly GridColumn[], rows: readonly (readonly FittedText[])[]): string {
  return rows.map((row) => `${drawRow(columns, row)}\n`).join("");
}

function drawRow(columns: readonly GridColumn[], row: readonly FittedText[]): string {
  let line = "";
  let spaces = "";
  for (const [index, { width, align }] of columns.entries()) {
    const cell = row[index] ?? { text: "", width: 0 };
    const padding = " ".repeat(Math.max(width - cell.width, 0));
    const [before, after] = align === "right" ? [padding, ""] : ["", padding];
    if (cell.width > 0) {
      line += spaces + before + cell.text;
      spaces = "";
    } else spaces += before;
    spaces += after + GAP;
  }
  return line;
}
