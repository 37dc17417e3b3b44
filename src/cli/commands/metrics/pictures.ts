import type { JsonObject } from "../../../contract/json.ts";
import { type Coverage, explainMark, markPeriod } from "../../../insight/coverage.ts";
import { FEW_ANSWERS } from "../../../insight/interval.ts";
import type { Deps } from "../../kit/deps.ts";
import { chooseFormat } from "../../render/list-output.ts";
import type { ScorePoint } from "./plots.ts";

export function wantsPictures(deps: Deps): boolean {
  return deps.streams.out.isTTY && chooseFormat(deps) === "table" && deps.options.columns === null;
}

const TREND_MARGIN = 28;

export async function drawPeriods(
  deps: Deps,
  rows: readonly JsonObject[],
  { coverages, confidence }: { readonly coverages: readonly Coverage[]; readonly confidence: number },
): Promise<void> {
  const points = rows.map(toPoint);
  if (!wantsPictures(deps) || points.every(({ nps }) => nps === null)) return;
  const marked = points.map((point, at) => {
    const coverage = coverages[at];
    return coverage === undefined ? point : { ...point, label: markPeriod(point.label, coverage) };
  });
  const { drawBands } = await import("./plots.ts");
  const bands = points.length > 1 ? drawBands(deps, marked, confidence) : "";
  const trend = drawTrend(deps, points, coverages);
  await deps.streams.out.write(`\n${trend}${bands === "" ? "" : `\n${bands}`}`);
}

function toPoint(row: JsonObject): ScorePoint {
  const [nps, low, high, n] = ["nps", "nps_low", "nps_high", "n"].map((name) => {
    const value = row[name];
    return typeof value === "number" ? value : null;
  });
  const answers = n ?? 0;
  return {
    label: typeof row["period"] === "string" ? row["period"] : "",
    nps: nps ?? null,
    low: low ?? null,
    high: high ?? null,
    n: answers,
    isFew: n !== null && answers < FEW_ANSWERS,
  };
}

/** Draws `nps  ▁▃▅█*  min 12, max 45` for the newest periods that fit. */
function drawTrend(deps: Deps, points: readonly ScorePoint[], coverages: readonly Coverage[]): string {
  const { unicode } = deps.options;
  const room = Math.max(deps.streams.out.columns - TREND_MARGIN, 1);
  const shown = points.length <= room ? points : points.slice(1 - room);
  const scored = shown.some(({ nps }) => nps !== null) ? shown : points;
  const known = scored.flatMap(({ nps }) => (nps === null ? [] : [nps]));
  const mark = coverages
    .slice(-1)
    .map((last) => markPeriod("", last))
    .join("");
  const line = `${shown.length < points.length ? (unicode ? "…" : "<") : ""}${toSparkline(shown, unicode)}${mark}`;
  const notes = [
    ...[explainMark(coverages) ?? []].flat(),
    ...(shown.some(({ nps, isFew }) => nps !== null && isFew) ? [`${hollow(unicode)} under 10 answers`] : []),
  ];
  const note = notes.length === 0 ? "" : `${notes.join(", ")}\n`;
  return `nps  ${line}  min ${Math.min(...known)}, max ${Math.max(...known)}\n${note}`;
}

const LEVELS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;
const ASCII_LEVELS = ["_", ".", "-", ":", "=", "+", "x", "#"] as const;

/** `·` means no score; hollow marks mean too few answers. */
export function toSparkline(points: readonly Pick<ScorePoint, "nps" | "isFew">[], unicode: boolean = true): string {
  // Scores from too few answers aren't drawn to scale and don't affect the scale.
  const known = points.flatMap(({ nps, isFew }) => (nps === null || isFew ? [] : [nps]));
  const low = Math.min(...known);
  const span = Math.max(...known) - low;
  const levels = unicode ? LEVELS : ASCII_LEVELS;
  const none = unicode ? "·" : " ";
  return points
    .map(({ nps, isFew }) => {
      if (nps === null) return none;
      return isFew ? hollow(unicode) : (levels[levelOf(nps - low, span)] ?? "");
    })
    .join("");
}

function hollow(unicode: boolean): string {
  return unicode ? "▯" : "o";
}

function levelOf(above: number, span: number): number {
  return span === 0 ? 3 : Math.round((above / span) * (LEVELS.length - 1));
}
