import Table from "cli-table3";
import { GAP } from "./table-layout.ts";

const NO_BORDERS = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: GAP,
};

/**
 * Two columns or more as lines; the last cell of a line loses its padding. For short ASCII left columns: the library
 * measures emoji and right-to-left text less well than `text-measure.ts`, which lists are fitted with.
 */
export function drawGrid(rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const table = new Table({
    chars: NO_BORDERS,
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [] },
    wordWrap: false,
  });
  table.push(...rows.map((cells) => [...cells]));
  return table
    .toString()
    .split("\n")
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}
