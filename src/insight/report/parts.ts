import { Html, type HtmlValue } from "../../contract/text/html.ts";
import { basisLine, headline, type ReportFacts } from "./facts.ts";
import { lean as html } from "./markup.ts";

interface Page {
  readonly facts: Pick<ReportFacts, "title" | "counts" | "change" | "range">;
  readonly metas: Html;
  readonly style: string;
  readonly kicker: string;
  readonly nav?: Html | null;
  readonly main: HtmlValue;
  readonly foot: Html;
}

export function htmlPage({ facts, metas, style, kicker, nav = null, main, foot }: Page): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        ${metas}
        <title>${facts.title}: ${headline(facts)}</title>
        <link rel="icon" href="data:," />
        ${new Html(`<style>${style}</style>`)}
      </head>
      <body>
        <header>
          <p class="kicker" dir="auto">${kicker}</p>
          <h1 dir="auto">${facts.title}</h1>
          <p class="lead">${headline(facts)}</p>
          <p class="rests">${basisLine(facts)}</p>
          ${nav}
        </header>
        <main>${main}</main>
        ${foot}
      </body>
    </html> `.text;
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
