import type { Html } from "../../contract/text/html.ts";
import { countAnswers, KINDS, type ScoreCounts } from "../interval.ts";
import { type PeriodScore, scoreFigure } from "./facts.ts";
import { lean as html } from "./markup.ts";

function percent(share: number): number {
  return Math.round(share * 10_000) / 100;
}

function draw(name: string, parts: readonly Html[]): Html {
  return html`<svg class="bar ${name}" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
    ${parts}
  </svg> `;
}

export function drawShare(share: number): Html {
  const rest = html`<rect class="rest" width="100" height="4" />`;
  return draw("portion", [rest, html`<rect width="${percent(share)}" height="4" />`]);
}

export function drawKinds(counts: ScoreCounts): Html {
  const n = countAnswers(counts);
  let before = 0;
  const parts = KINDS.map((kind) => {
    const [x, width] = [percent(before / n), percent(counts[kind] / n)];
    before += counts[kind];
    return html`<rect class="${kind.slice(0, -1)}" x="${x}" width="${width}" height="4" />`;
  });
  return draw("kinds", parts);
}

export function drawSparkline(periods: readonly PeriodScore[]): Html | null {
  const points = periods.flatMap(({ counts }, x) => {
    const figure = scoreFigure(counts);
    return figure === null || figure.isFew ? [] : [{ x, y: -Math.round(10 * figure.nps) }];
  });
  if (points.length < 2) return null;
  const ys = points.map(({ y }) => y);
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  return html`<svg
    class="spark"
    viewBox="0 ${top} ${periods.length - 1} ${bottom - top || 1}"
    preserveAspectRatio="none"
    aria-hidden="true"
  >
    <polyline class="line" points="${points.map(({ x, y }) => `${x},${y}`).join(" ")}" />
  </svg> `;
}
