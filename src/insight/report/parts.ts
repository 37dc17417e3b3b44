import { Html, type HtmlValue } from "../../contract/text/html.ts";
import { countOf } from "../../contract/text/whole-number.ts";
import { changeVerdict, countAnswers, netPromoterScore, scoreChange } from "../interval.ts";
import { drawSparkline } from "./bars.ts";
import { type ChangeFacts, CONFIDENCE_WORDS, type ReportFacts, scoreFigure, scoreText, signedText } from "./facts.ts";
import { lean as html } from "./markup.ts";
import { spellDates } from "./spelled-dates.ts";

interface Page {
  readonly facts: Pick<ReportFacts, "title" | "sponsor" | "counts" | "change" | "range" | "periods">;
  readonly metas: Html;
  readonly style: string;
  readonly logo?: Html | null;
  readonly nav?: Html | null;
  readonly main: HtmlValue;
  readonly foot: Html;
}

export function htmlPage({ facts, metas, style, logo = null, nav = null, main, foot }: Page): string {
  const { title, sponsor, counts } = facts;
  const nps = netPromoterScore(counts);
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        ${metas}
        <title>${title}: ${nps === null ? "no answers" : `NPS ${scoreText(nps)}`}</title>
        <link rel="icon" href="data:," />
        ${new Html(`<style>${style}</style>`)}
      </head>
      <body>
        <header>
          ${logo}
          <p class="kicker" dir="auto">${sponsor === null || logo !== null ? "" : `${sponsor} · `}Net Promoter Score</p>
          <h1 dir="auto">${title}</h1>
          ${nav}${scoreLines(facts)}
        </header>
        <main>${main}</main>
        ${foot}
      </body>
    </html> `.text;
}

function scoreLines({ counts, change, range, periods }: Page["facts"]): Html {
  const figure = scoreFigure(counts);
  if (figure === null) return html`<p class="number few">No answers</p>`;
  const { nps, low, high, isFew } = figure;
  const interval = `Between ${scoreText(low)} and ${scoreText(high)} (${CONFIDENCE_WORDS} interval)`;
  const answers = `${countOf(countAnswers(counts), "answer")}${isFew ? ", too few to say" : ""}`;
  return html`<div class="score">
      <p class="number${isFew ? " few" : ""}"><small>NPS</small> ${scoreText(nps)}</p>
      ${drawSparkline(periods)}${change === null ? null : changeLine(change)}
    </div>
    <p class="rests">${interval} · ${answers} · ${spellDates(range)}</p>`;
}

function changeLine({ before, after, words }: ChangeFacts): Html {
  const [found, size] = [changeVerdict(before, after), scoreChange(before, after)];
  const compared = spellDates(words);
  if (size === null || found === "too few")
    return html`<p class="change">Too few answers to say whether it changed ${compared}</p>`;
  const kind = found === "rise" ? "promoter" : found === "fall" ? "detractor" : "passive";
  const verdict = found === "no evidence" ? "within chance" : "sure";
  return html`<p class="change ${kind}"><b>${signedText(size.change)}</b> points ${compared}: <b>${verdict}</b></p>`;
}

export function section(
  { id, title, deck }: { readonly id: string; readonly title: string; readonly deck: string },
  content: HtmlValue,
): Html {
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}" dir="auto">${title}</h2>
    <p class="deck">${deck}</p>
    ${content}
  </section> `;
}

type Cell = string | Html;

export function dataTable(title: string, heads: readonly string[], rows: readonly (readonly Cell[])[]): Html {
  return html`<div class="wide" role="region" aria-label="${title}: data" tabindex="0">
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([name = "", ...cells]) =>
            html`<tr>
              <th scope="row" dir="auto">${name}</th>
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr> `,
        )}
      </tbody>
    </table>
  </div> `;
}

export function aside(content: HtmlValue): Html {
  return html`<p class="aside">${content}</p> `;
}
