import { countAnswers } from "../interval.ts";
import { Html } from "../../contract/text/html.ts";
import type { QuestionResult } from "../answers/answer-tally.ts";
import type { ReportComment, ScoreFacts } from "./facts.ts";
import { lean as html } from "./markup.ts";
import { basis, periods, scores, segments, withComments } from "./page.ts";
import { htmlPage } from "./parts.ts";
import { questionSections } from "./questions.ts";
import { spellDates } from "./spelled-dates.ts";
import { REPORT_STYLE } from "./style.ts";

export interface LiveFacts extends ScoreFacts {
  readonly brand: ReportBrand;
  /** The project's own question; null for the built-in one. */
  readonly question: string | null;
  readonly computedAt: string;
  readonly questions: readonly QuestionResult[];
  readonly questionsAmong: number | null;
  readonly comments: readonly ReportComment[] | null;
}

interface ReportBrand {
  readonly logo: string | null;
  readonly accent: { readonly link: { readonly light: string; readonly dark: string } } | null;
}

/** Uses shades of the brand's color that are readable. */
export function liveStyle({ accent }: ReportBrand): string {
  if (accent === null) return LIVE_STYLE;
  const [light, dark] = [accent.link.light, accent.link.dark].map(
    (color) => `:root{--mark:${color};--score:${color};--band:color-mix(in srgb,${color} 25%,var(--paper))}`,
  );
  return `${LIVE_STYLE}\n${light}\n@media screen and (prefers-color-scheme:dark){${dark}}`;
}

const LIVE_STYLE = `${REPORT_STYLE.trim()}
.logo{margin:0 0 1rem}.logo img{display:block;max-height:3rem;max-width:60%}
@media screen and (prefers-color-scheme:dark){.logo img{padding:.5rem .625rem;background:#fff;border-radius:.5rem}}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem;list-style:none;margin:1rem 0 0;padding:0}
nav li{padding:0;border:0}
nav a{display:flex;align-items:center;min-height:2.75rem;padding:0 .9rem;border:1px solid var(--axis);border-radius:.4rem;color:var(--ink);text-decoration:none}
nav a:hover{background:var(--panel)}
nav a:focus-visible{outline:2px solid var(--score);outline-offset:2px}
nav a[aria-current]{background:var(--score);border-color:var(--score);color:var(--paper);font-weight:700}
@media (max-width:32rem){nav ul{display:grid;grid-template-columns:1fr 1fr}nav a{justify-content:center}}
@media print{nav{display:none}}`;

const RANGES = [
  ["30d", "30 days"],
  ["90d", "90 days"],
  ["12m", "12 months"],
  ["all", "All"],
] as const;

/** Links to other periods keep `query`. */
export function renderLivePage(facts: LiveFacts, range: string, query: Readonly<Record<string, string>> = {}): string {
  const { sponsor, brand } = facts;
  const logo =
    brand.logo === null ? null : html`<p class="logo"><img src="${brand.logo}" alt="${sponsor ?? ""}" /></p>`;
  const metas = html`<meta name="robots" content="noindex, nofollow" /> <meta name="referrer" content="no-referrer" />`;
  const nav = html`<nav aria-label="Period">
    <ul>
      ${RANGES.map(([name, text]) => link({ range: name, ...query }, text, name === range))}
    </ul>
  </nav>`;
  return htmlPage({ facts, metas, style: liveStyle(brand), logo, nav, main: content(facts), foot: foot(facts) });
}

function link(query: Readonly<Record<string, string>>, text: string, isCurrent: boolean): Html {
  const current = new Html(isCurrent ? 'aria-current="page"' : "");
  return html`<li><a href="?${new URLSearchParams(query).toString()}" ${current}>${text}</a></li> `;
}

function content(facts: LiveFacts): (Html | null)[] {
  if (countAnswers(facts.counts) === 0) return [];
  const { comments: newest, question } = facts;
  const deck = `All answers in the period${question === null ? "" : ` to “${question}”`}`;
  const parts = [
    basis(facts, deck),
    periods(facts),
    scores(facts),
    segments(facts),
    ...questionSections(facts.questions, facts.questionsAmong),
  ];
  return newest === null ? parts : withComments(parts, { ...facts, comments: newest, hasIds: false });
}

function foot({ computedAt }: LiveFacts): Html {
  return html`<footer>
    <section aria-labelledby="method">
      <h2 id="method">Method</h2>
      <p>
        All answers from 0 to 10 in the period count; days begin at midnight UTC. NPS is the percentage of promoters (9
        and 10) minus the percentage of detractors (0 to 6). Intervals are adjusted Wald intervals (Rocks 2016); they
        don't account for who chose to answer.
      </p>
      <p>Computed at ${spellDates(computedAt)}. Reload the page to see new answers; they appear within a minute.</p>
    </section>
  </footer>`;
}
