import type { Html } from "../../contract/text/html.ts";
import { countAnswers, KINDS, type ScoreCounts } from "../interval.ts";
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
