/** What a terminal shows beneath the numbers. */
import type { JsonObject } from "../../../contract/json.ts";
import type { Deps } from "../../command/deps.ts";
import { chooseFormat } from "../../render/list-output.ts";
import type { Tone } from "../../render/human.ts";
import { shareCells, toSparkline } from "./sparkline.ts";

/** Pictures are for people: on a terminal, in the table format, and never among columns somebody chose. */
function wantsPictures(deps: Deps): boolean {
  return deps.streams.out.isTTY && chooseFormat(deps) === "table" && deps.options.columns === null;
}

/** Cells beside the line: `nps  ` and `  -100 … -100`. */
const BESIDE_TREND = 19;

/** `nps  ▁▃▅█  12 … 45`; a period without responses is a dot. The newest periods that one line has room for. */
export async function drawTrend(deps: Deps, rows: readonly JsonObject[]): Promise<void> {
  const room = Math.max(deps.streams.out.columns - BESIDE_TREND, 1);
  const all = rows.map(({ nps, response_count: count }) => (typeof nps === "number" && count !== 0 ? nps : null));
  const values = all.length <= room ? all : all.slice(1 - room);
  const known = values.filter((value) => value !== null);
  if (!wantsPictures(deps) || known.length === 0) return;
  const line = `${values.length < all.length ? "…" : ""}${toSparkline(values)}`;
  await deps.streams.out.write(`\nnps  ${line}  ${known[0]} … ${known.at(-1)}\n`);
}

const BAR_CELLS = 50;
const PARTS: readonly (readonly [string, string, Tone])[] = [
  ["promoter", "█", "good"],
  ["passive", "▒", "middling"],
  ["detractor", "░", "bad"],
];

/** A bar of promoters, passives and detractors; the marks differ as well as the colours. */
export async function drawShares(deps: Deps, metrics: JsonObject): Promise<void> {
  const counts = PARTS.map(([name]) => metrics[`${name}_count`]).filter((count) => typeof count === "number");
  if (!wantsPictures(deps) || counts.length < PARTS.length || counts.every((count) => count === 0)) return;
  const { createPaint } = await import("../../render/human.ts");
  const paint = createPaint(deps.options.color);
  const cells = shareCells(counts, Math.min(BAR_CELLS, deps.streams.out.columns));
  const bar = PARTS.map(([, mark, tone], index) => paint.tone(mark.repeat(cells[index] ?? 0), tone)).join("");
  const legend = PARTS.map(
    ([name, mark, tone], index) =>
      `${paint.tone(mark, tone)} ${counts[index]} ${name}${counts[index] === 1 ? "" : "s"}`,
  );
  await deps.streams.out.write(`\n${bar}\n${legend.join("  ")}\n`);
}
