/** SVG charts. The narrow frame is for phones. */
import { markPeriod } from "../coverage.ts";
import type { Html } from "../../contract/text/html.ts";
import { formatCount } from "../../contract/text/whole-number.ts";
import { scoreCategory } from "../../contract/limits.ts";
import type { SegmentRow } from "../segments.ts";
import { cutText, pointsText, type PeriodScore, scoreFigure, type ScoreFigure, shareText } from "./facts.ts";
import { lean as html } from "./markup.ts";
import { axisNames } from "./spelled-dates.ts";

export interface Frame {
  readonly name: "broad" | "narrow";
  readonly width: number;
  readonly left: number;
  readonly right: number;
  readonly character: number;
  readonly labelRoom: number;
}

export const BROAD: Frame = { name: "broad", width: 480, left: 44, right: 36, character: 7, labelRoom: 128 };
export const NARROW: Frame = { name: "narrow", width: 320, left: 36, right: 28, character: 7.6, labelRoom: 118 };

const TOP = 14;
const PLOT_HEIGHT = 190;

interface Scale {
  readonly ticks: readonly number[];
  readonly place: (value: number) => number;
}

/** A scale of round numbers that includes all values, mapped to `from` … `to`. */
export function linearScale(
  values: readonly number[],
  { from, to, steps, most }: { from: number; to: number; steps: readonly number[]; most: number },
): Scale {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const spans = (step: number): number => Math.ceil(high / step) - Math.floor(low / step);
  const step = steps.find((each) => spans(each) <= most) ?? steps.at(-1) ?? 1;
  const [first, last] = [Math.floor(low / step), Math.max(Math.ceil(high / step), Math.floor(low / step) + 1)];
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  return { ticks, place: (value) => from + ((value / step - first) / (last - first)) * (to - from) };
}

const SCORE_STEPS = [5, 10, 20, 25, 50] as const;

/** Rounds to two decimals, so the bytes are the same on every machine. */
function at(place: number): string {
  return String(Math.round(place * 100) / 100);
}

export interface ChartWords {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

function svg(frame: Frame, height: number, words: ChartWords, content: readonly Html[]): Html {
  const { title, description } = words;
  const id = frame.name === "broad" ? words.id : `${words.id}-narrow`;
  return html`<svg
    class="${frame.name}"
    viewBox="0 0 ${frame.width} ${at(height)}"
    role="img"
    aria-labelledby="${id}-title ${id}-desc"
  >
    <title id="${id}-title">${title}</title>
    <desc id="${id}-desc">${description}</desc>
    ${content}
  </svg> `;
}

function leftAxis({ ticks, place }: Scale, { left }: Frame, right: number): Html[] {
  return ticks.map((tick) => {
    const y = at(place(tick));
    const kind = tick === 0 ? "zero" : "grid";
    return html`<line class="${kind}" x1="${left}" x2="${right}" y1="${y}" y2="${y}" /><text
        class="tick"
        x="${left - 8}"
        y="${y}"
        dy=".35em"
        text-anchor="end"
        >${formatCount(tick)}</text
      > `;
  });
}

interface DrawnPoint extends ScoreFigure {
  readonly x: number;
}

export function drawPeriodScores(periods: readonly PeriodScore[], words: ChartWords, frame: Frame = BROAD): Html {
  const { width, left, right, character } = frame;
  const slot = (width - left - right) / periods.length;
  const xOf = (index: number): number => left + slot * (index + 0.5);
  const points = periods.map(({ counts }, index): DrawnPoint | null => {
    const figure = scoreFigure(counts);
    return figure === null ? null : { ...figure, x: xOf(index) };
  });
  const known = points.filter((point) => point !== null);
  const ends = known.flatMap(({ low, high, nps }) => [low, high, nps]);
  const bottom = TOP + PLOT_HEIGHT;
  const scale = linearScale(ends, { from: bottom, to: TOP, steps: SCORE_STEPS, most: 6 });
  const runs = unbrokenRuns(points);
  const last = known.at(-1);
  const label =
    last === undefined || last.isFew
      ? []
      : [
          html`<text class="value" x="${at(last.x + 8)}" y="${at(scale.place(last.nps))}" dy=".35em"
            >${pointsText(Math.round(last.nps))}</text
          > `,
        ];
  const names = axisNames(periods.map((period) => period.label));
  const labels = periods.map((period, index) => markPeriod(names[index] ?? "", period));
  return svg(frame, bottom + 51, words, [
    ...runs.map((run) => drawBand(run, scale)),
    ...leftAxis(scale, frame, width - right),
    ...runs.flatMap((run) => drawLine(run, scale)),
    ...known.map((point) => drawPoint(at(point.x), at(scale.place(point.nps)), point.isFew)),
    ...label,
    ...drawLabels(labels, { xOf, slot, character, y: bottom + 23, kind: "label" }),
    html`<text class="note" x="${left - 8}" y="${bottom + 43}" text-anchor="end">n</text> `,
    ...drawLabels(
      points.map((point) => formatCount(point?.n ?? 0)),
      { xOf, slot, character, y: bottom + 43, kind: "note" },
    ),
  ]);
}

function drawPoint(x: string, y: string, isFew: boolean): Html {
  return html`<circle class="${isFew ? "few" : "point"}" cx="${x}" cy="${y}" r="${isFew ? 3.5 : 4}" /> `;
}

function unbrokenRuns(points: readonly (DrawnPoint | null)[]): DrawnPoint[][] {
  const runs: DrawnPoint[][] = [[]];
  for (const point of points)
    if (point === null) runs.push([]);
    else runs.at(-1)?.push(point);
  return runs.filter((run) => run.length > 0);
}

function drawBand(run: readonly DrawnPoint[], { place }: Scale): Html {
  const [only] = run;
  if (run.length === 1 && only !== undefined)
    return html`<line
      class="whisker"
      x1="${at(only.x)}"
      x2="${at(only.x)}"
      y1="${at(place(only.low))}"
      y2="${at(place(only.high))}"
    /> `;
  const upper = run.map(({ x, high }) => `${at(x)} ${at(place(high))}`);
  const lower = run.toReversed().map(({ x, low }) => `${at(x)} ${at(place(low))}`);
  return html`<path class="band" d="M${[...upper, ...lower].join("L")}Z" /> `;
}

function drawLine(run: readonly DrawnPoint[], { place }: Scale): Html[] {
  const steps = run.slice(1).map((point, index) => ({ from: run[index] ?? point, to: point }));
  const drawn = ([kind, isFaint]: readonly [string, boolean]): Html[] => {
    const wanted = steps.filter(({ from, to }) => (from.isFew || to.isFew) === isFaint);
    const path = wanted.map(({ from, to }) => `M${at(from.x)} ${at(place(from.nps))}L${at(to.x)} ${at(place(to.nps))}`);
    return path.length === 0 ? [] : [html`<path class="${kind}" d="${path.join("")}" /> `];
  };
  return [...drawn(["line", false]), ...drawn(["line faint", true])];
}

interface LabelPlaces {
  readonly xOf: (index: number) => number;
  readonly slot: number;
  readonly character: number;
  readonly y: number;
  readonly kind: "label" | "note";
}

function drawLabels(texts: readonly string[], { xOf, slot, character, y, kind }: LabelPlaces): Html[] {
  const widest = Math.max(...texts.map((text) => text.length)) * character + 6;
  const every = Math.max(1, Math.ceil(widest / slot));
  return texts.flatMap((text, index) => {
    if ((texts.length - 1 - index) % every !== 0) return [];
    return [html`<text class="${kind}" x="${at(xOf(index))}" y="${y}" text-anchor="middle">${text}</text> `];
  });
}

const COUNT_STEPS = [1, 2, 5].flatMap((digit) => Array.from({ length: 8 }, (_, power) => digit * 10 ** power));
const BAR_SHARE = 0.78;
const GROUPS = [
  { kind: "detractor", name: "Detractors", first: 0, last: 6 },
  { kind: "passive", name: "Passives", first: 7, last: 8 },
  { kind: "promoter", name: "Promoters", first: 9, last: 10 },
] as const;

export function drawScores(scores: readonly number[], words: ChartWords, frame: Frame): Html {
  const { width, left: start } = frame;
  const top = TOP + 40;
  const bottom = top + 150;
  const steps = COUNT_STEPS.toSorted((a, b) => a - b);
  const scale = linearScale([0, ...scores], { from: bottom, to: top, steps, most: 4 });
  const slot = (width - start - 8) / scores.length;
  const all = scores.reduce((sum, count) => sum + count, 0);
  const groups = GROUPS.map(({ kind, name, first, last }, index) => {
    const count = scores.slice(first, last + 1).reduce((sum, each) => sum + each, 0);
    const [left, right] = [start + slot * first, start + slot * (last + 1)];
    const inset = (slot * (1 - BAR_SHARE)) / 2;
    // The narrow chart has no room for names above their bars.
    const textAt = frame.name === "broad" ? left + inset : start + (index * (width - start - 8)) / GROUPS.length;
    return html`<path class="rule ${kind}" d="M${at(left + inset)} ${top - 14}H${at(right - inset)}" />
      <text class="group ${kind}" x="${at(textAt)}" y="${top - 37}">${name}</text
      ><text class="share" x="${at(textAt)}" y="${top - 20}">${shareText(count / all)}</text> `;
  });
  const bars = scores.map((count, score) => {
    const y = scale.place(count);
    const x = start + slot * (score + (1 - BAR_SHARE) / 2);
    return html`<rect
        class="${scoreCategory(score)}"
        x="${at(x)}"
        y="${at(y)}"
        width="${at(slot * BAR_SHARE)}"
        height="${at(bottom - y)}"
      />
      <text class="label" x="${at(start + slot * (score + 0.5))}" y="${bottom + 20}" text-anchor="middle"
        >${score}</text
      > `;
  });
  return svg(frame, bottom + 28, words, [...leftAxis(scale, frame, width - 8), ...groups, ...bars]);
}

const LABEL_CELLS = 15;
const ROW_HEIGHT = 28;

export function drawSegments(rows: readonly SegmentRow[], words: ChartWords, frame: Frame): Html {
  const { width, labelRoom } = frame;
  const sorted = rows.toSorted((a, b) => b.nps - a.nps);
  const bottom = TOP + ROW_HEIGHT * sorted.length;
  const ends = sorted.flatMap(({ nps, nps_low: low, nps_high: high }) => [nps, low, high]);
  const scale = linearScale([0, ...ends], { from: labelRoom, to: width - 24, steps: SCORE_STEPS, most: 5 });
  const axis = scale.ticks.map((tick) => {
    const x = at(scale.place(tick));
    return html`<line class="${tick === 0 ? "zero" : "grid"}" x1="${x}" x2="${x}" y1="${TOP - 6}" y2="${bottom}" /><text
        class="tick"
        x="${x}"
        y="${bottom + 18}"
        text-anchor="middle"
        >${formatCount(tick)}</text
      > `;
  });
  const lines = sorted.map(({ value, nps, nps_low: low, nps_high: high }, index) => {
    const y = at(TOP + ROW_HEIGHT * (index + 0.5));
    return html`<text class="name" x="${labelRoom - 12}" y="${y}" dy=".35em" text-anchor="end">${fitLabel(value)}</text
      ><line
        class="whisker"
        x1="${at(scale.place(low))}"
        x2="${at(scale.place(high))}"
        y1="${y}"
        y2="${y}"
      />${drawPoint(at(scale.place(nps)), y, false)}`;
  });
  return svg(frame, bottom + 26, words, [...axis, ...lines]);
}

/** Truncates the text to fit; East Asian characters and emoji are two cells wide. */
function fitLabel(text: string): string {
  let cells = 0;
  let fitted = "";
  for (const letter of cutText(text.replace(/\s+/gu, " ").trim(), 4 * LABEL_CELLS)) {
    cells += (letter.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1;
    if (cells > LABEL_CELLS) return `${fitted}…`;
    fitted += letter;
  }
  return fitted;
}
