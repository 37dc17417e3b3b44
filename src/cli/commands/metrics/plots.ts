import { toPoints, type RenderContext } from "../../render/columns.ts";
import { toneOfScore, toPercent, toShare, createPaint, type Paint, type Tone } from "../../render/human.ts";
import { FEW_ANSWERS } from "../../../insight/interval.ts";
import { formatCount } from "../../../contract/text/whole-number.ts";
import { GAP } from "../../render/grid.ts";
import { toSafeCell } from "../../render/safe-text.ts";
import { createTextMeasure } from "../../render/text-measure.ts";
import { scoreCategory, SCORE_MAX } from "../../../contract/limits.ts";

const PLOT_COLUMNS_MIN = 60;
const PLOT_ROWS = 12;

export interface ScorePoint {
  readonly label: string;
  readonly nps: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly n: number;
  readonly isFew: boolean;
}

const UNICODE = {
  score: "●",
  few: "○",
  band: "│",
  zero: "·",
  axis: "┤",
  whisker: ["├", "─", "┤"] as [first: string, line: string, last: string],
  bars: { promoter: "█", passive: "▒", detractor: "░" },
  dots: "…",
};
type Marks = typeof UNICODE;

const ASCII: Marks = {
  score: "*",
  few: "o",
  band: "|",
  zero: ".",
  axis: "|",
  whisker: ["[", "-", "]"],
  bars: { promoter: "#", passive: "=", detractor: "-" },
  dots: "...",
};

interface Canvas {
  readonly columns: number;
  readonly marks: Marks;
  readonly paint: Paint;
  readonly unicode: boolean;
}

function openCanvas({ streams, options }: RenderContext): Canvas | null {
  const { columns } = streams.out;
  if (columns < PLOT_COLUMNS_MIN) return null;
  const { unicode, color } = options;
  return { columns, marks: unicode ? UNICODE : ASCII, paint: createPaint(color), unicode };
}

function markOf({ marks, paint }: Canvas, { isFew, nps }: ScorePoint): string {
  return paint.tone(isFew ? marks.few : marks.score, toneOfScore(nps));
}

function ascending(a: number, b: number): number {
  return a - b;
}

const STEPS = [1, 2, 5, 10, 15, 20] as const;
const AXIS_WIDTH = 7;
const CELLS_MAX = 12;

export function drawBands(context: RenderContext, points: readonly ScorePoint[], confidence: number): string {
  const canvas = openCanvas(context);
  const ends = points.flatMap(({ nps, low, high }) => [nps, low, high].filter((end) => end !== null));
  if (canvas === null || ends.length === 0) return "";
  const room = canvas.columns - AXIS_WIDTH;
  const cells = Math.max(1, Math.min(CELLS_MAX, Math.floor(room / points.length)));
  const shown = points.slice(-Math.floor(room / cells));
  const [lowest = 0, ...others] = ends.toSorted(ascending);
  const highest = others.at(-1) ?? lowest;
  const rowsFor = (step: number): number => Math.ceil(highest / step) - Math.floor(lowest / step) + 1;
  const step = STEPS.find((each) => rowsFor(each) <= PLOT_ROWS) ?? 20;
  const top = Math.ceil(highest / step) + Math.floor((PLOT_ROWS - rowsFor(step)) / 2);
  const rowOf = (value: number): number => top - Math.round(value / step);
  const lines = Array.from({ length: PLOT_ROWS }, (_, row) => {
    const value = (top - row) * step;
    const label = (top - row) % 2 === 0 && Math.abs(value) <= 100 ? String(value) : "";
    const marked = shown.map((point) => bandCell(canvas, point, { row, rowOf, isZero: value === 0 }));
    const gap = (value === 0 ? canvas.marks.zero : " ").repeat(cells - 1);
    return `${label.padStart(AXIS_WIDTH - 2)} ${canvas.marks.axis}${marked.join(gap)}`.trimEnd();
  });
  return `${[...lines, ...bandLegend(canvas, shown, { cells, confidence })].join("\n")}\n`;
}

interface BandRow {
  readonly row: number;
  readonly rowOf: (value: number) => number;
  readonly isZero: boolean;
}

function bandCell(canvas: Canvas, point: ScorePoint, { row, rowOf, isZero }: BandRow): string {
  const { nps, low, high } = point;
  const { marks } = canvas;
  if (nps !== null && rowOf(nps) === row) return markOf(canvas, point);
  if (low !== null && high !== null && rowOf(high) <= row && row <= rowOf(low)) return marks.band;
  return isZero ? marks.zero : " ";
}

function bandLegend(
  { marks, columns }: Canvas,
  shown: readonly ScorePoint[],
  { cells, confidence }: { readonly cells: number; readonly confidence: number },
): string[] {
  const labels = shown.map(({ label }) => label);
  const [first = "", last = ""] = [labels[0], labels.at(-1)];
  const lastAt = Math.min((labels.length - 1) * cells, columns - AXIS_WIDTH - last.length);
  const ends = labels.length > 1 && first.length < lastAt ? first.padEnd(lastAt) + last : first;
  const all = labels.map((label) => label.padEnd(cells)).join("");
  const hasRoom = labels.every((label) => label.length < cells) && all.trimEnd().length <= columns - AXIS_WIDTH;
  const indent = " ".repeat(AXIS_WIDTH);
  const few = shown.some(({ isFew, nps }) => isFew && nps !== null) ? `   ${marks.few} under 10 answers` : "";
  return [
    `${indent}${hasRoom ? all.trimEnd() : ends}`,
    `${indent}${marks.score} NPS${few}   ${marks.band} ${toPercent(confidence)} interval`,
  ];
}

const LABEL_MAX = 24;
const LABEL_MIN = 4;
const AXIS_CELLS_MIN = 20;

export function drawWhiskers(context: RenderContext, points: readonly Omit<ScorePoint, "isFew">[]): string {
  const canvas = openCanvas(context);
  const known = points.flatMap(({ nps, low, high, label, ...point }) =>
    nps === null || low === null || high === null
      ? []
      : [{ ...point, nps, low, high, label: toSafeCell(label), isFew: point.n < FEW_ANSWERS }],
  );
  if (canvas === null || known.length === 0) return "";
  const { marks, columns, unicode } = canvas;
  const measure = createTextMeasure(unicode);
  const scores = known.map(({ nps }) => toPoints(nps));
  const scoreWidth = Math.max(...scores.map((score) => score.length));
  const texts = known.map(
    ({ low, high, n }, index) =>
      `${(scores[index] ?? "").padStart(scoreWidth)} (${Math.round(low)} ${marks.dots} ${Math.round(high)}, n ${formatCount(n)})`,
  );
  const textWidth = Math.max(...texts.map((text) => text.length));
  const left = columns - textWidth - 2 * GAP.length;
  const widest = Math.max(...known.map(({ label }) => measure.width(label)));
  // Truncating a name is better than leaving no room for the line.
  const labelWidth = Math.min(widest, LABEL_MAX, Math.max(left - AXIS_CELLS_MIN, LABEL_MIN));
  const room = Math.max(left - labelWidth, 1);
  const ends = known.flatMap(({ nps, low, high }) => [nps, low, high]);
  const [from, to] = [Math.floor(Math.min(0, ...ends) / 10) * 10, Math.ceil(Math.max(0, ...ends) / 10) * 10];
  const cellOf = (value: number): number => Math.round(((value - from) / Math.max(to - from, 1)) * (room - 1));
  const lines = known.map((point, index) => {
    const line = whisker(canvas, point, { room, cellOf });
    const label = measure.fit(point.label, labelWidth);
    return {
      nps: point.nps,
      text: `${label.text}${" ".repeat(labelWidth - label.width)}${GAP}${line}${GAP}${texts[index] ?? ""}`,
    };
  });
  const sorted = lines.toSorted((a, b) => b.nps - a.nps).map(({ text }) => text);
  const scale = axisLabels([from, 0, to], room, cellOf);
  return `${[...sorted, `${" ".repeat(labelWidth)}${GAP}${scale}`.trimEnd()].join("\n")}\n`;
}

interface WhiskerAxis {
  readonly room: number;
  readonly cellOf: (value: number) => number;
}

function whisker(
  canvas: Canvas,
  point: ScorePoint & { readonly nps: number; readonly low: number; readonly high: number },
  { room, cellOf }: WhiskerAxis,
): string {
  const { marks } = canvas;
  const [first, line, last] = marks.whisker;
  const [score, low, high, zero] = [point.nps, point.low, point.high, 0].map(cellOf);
  const cells = Array.from({ length: room }, (_, cell) => {
    if (cell === score) return markOf(canvas, point);
    if (cell === low) return first;
    if (cell === high) return last;
    if (cell > (low ?? 0) && cell < (high ?? 0)) return line;
    return cell === zero ? marks.zero : " ";
  });
  return cells.join("");
}

function axisLabels(values: readonly number[], room: number, cellOf: (value: number) => number): string {
  let line = "";
  for (const value of new Set(values)) {
    const text = String(value);
    const at = Math.max(0, Math.min(cellOf(value) - Math.floor(text.length / 2), room - text.length));
    if (line === "" || at > line.length) line = line.padEnd(at) + text;
  }
  return line;
}

const TONES: Readonly<Record<ReturnType<typeof scoreCategory>, Tone>> = {
  promoter: "good",
  passive: "middling",
  detractor: "bad",
};

export function drawHistogram(context: RenderContext, counts: readonly number[]): string {
  const canvas = openCanvas(context);
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (canvas === null || all === 0) return "";
  const { marks, paint, columns } = canvas;
  const most = Math.max(...counts);
  const countWidth = formatCount(most).length;
  const room = Math.min(columns - 4 - 2 - countWidth - 2 - 7, 80);
  const lines = Array.from({ length: SCORE_MAX + 1 }, (_, at) => {
    const score = SCORE_MAX - at;
    const count = counts[score] ?? 0;
    const kind = scoreCategory(score);
    const cells = count === 0 ? 0 : Math.max(1, Math.round((count / most) * room));
    const bar = paint.tone(marks.bars[kind].repeat(cells), TONES[kind]);
    const share = toShare(count / all).padStart(7);
    const numbers = `${formatCount(count).padStart(countWidth)}  ${share}`;
    return `${String(score).padStart(2)}  ${bar}${" ".repeat(room - cells)}  ${numbers}`;
  });
  const legend = (["promoter", "passive", "detractor"] as const).map(
    (kind) => `${paint.tone(marks.bars[kind], TONES[kind])} ${kind}s`,
  );
  return `${[...lines, "", `    ${legend.join("   ")}`].join("\n")}\n`;
}
