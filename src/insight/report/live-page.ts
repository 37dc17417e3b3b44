/** The report as a live page without scripts; links select the period. */
import { countAnswers } from "../interval.ts";
import { Html } from "../../contract/text/html.ts";
import { formatCount } from "../../contract/text/whole-number.ts";
import type { QuestionResult } from "../answers/answer-tally.ts";
import { type ReportComment, type ReportFacts } from "./facts.ts";
import { drawKinds } from "./bars.ts";
import { lean as html } from "./markup.ts";
import {
  BASIS,
  type Figure,
  figureList,
  kindFigures,
  periods,
  rateFigures,
  scores,
  segments,
  withComments,
} from "./page.ts";
import { htmlPage, section } from "./parts.ts";
import { questionSections } from "./questions.ts";
import { REPORT_STYLE } from "./style.ts";

export interface LiveFacts extends Pick<
  ReportFacts,
  "title" | "range" | "counts" | "commented" | "rates" | "change" | "periods" | "scores" | "segments" | "redacted"
> {
  readonly sponsor: string | null;
  /** The project's own question; null for the built-in one. */
  readonly question: string | null;
  readonly computedAt: string;
  readonly questions: readonly QuestionResult[];
  readonly questionsAmong: number | null;
  readonly comments: readonly ReportComment[] | null;
}

export const LIVE_STYLE = `${REPORT_STYLE.trim()}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem;list-style:none;margin:0 0 1rem;padding:0}
nav li{padding:0;border:0}
nav a{display:block;padding:.55rem .9rem;border:1px solid var(--axis);border-radius:.4rem;color:var(--ink);text-decoration:none}
nav a:hover{background:var(--panel)}
nav a:focus-visible{outline:2px solid var(--score);outline-offset:2px}
nav a[aria-current]{background:var(--ink);border-color:var(--ink);color:var(--paper);font-weight:700}
@media print{nav{display:none}}`;

const RANGES = [
  ["30d", "30 days"],
  ["90d", "90 days"],
  ["12m", "12 months"],
  ["all", "All"],
] as const;

/** Links to other periods keep `query`. */
export function renderLivePage(facts: LiveFacts, range: string, query: Readonly<Record<string, string>> = {}): string {
  const kicker = [...(facts.sponsor === null ? [] : [facts.sponsor]), "Net Promoter Score"].join(" · ");
  const metas = html`<meta name="robots" content="noindex, nofollow" /> <meta name="referrer" content="no-referrer" />`;
  const nav = html`<nav aria-label="Period">
    <ul>
      ${RANGES.map(([name, text]) => link({ range: name, ...query }, text, name === range))}
    </ul>
  </nav>`;
  return htmlPage({ facts, metas, style: LIVE_STYLE, kicker, nav, main: content(facts), foot: foot(facts) });
}

function link(query: Readonly<Record<string, string>>, text: string, isCurrent: boolean): Html {
  const current = new Html(isCurrent ? 'aria-current="page"' : "");
  return html`<li><a href="?${new URLSearchParams(query).toString()}" ${current}>${text}</a></li> `;
}

function content(facts: LiveFacts): (Html | null)[] {
  if (countAnswers(facts.counts) === 0) return [];
  const { comments: newest } = facts;
  const parts = [
    basis(facts),
    periods(facts),
    scores(facts),
    segments(facts),
    ...questionSections(facts.questions, facts.questionsAmong),
  ];
  return newest === null ? parts : withComments(parts, { ...facts, comments: newest });
}

function basis(facts: LiveFacts): Html {
  const rows: readonly Figure[] = [
    ["Answers", formatCount(countAnswers(facts.counts))],
    ...kindFigures(facts),
    ...rateFigures(facts.rates),
  ];
  const deck =
    facts.question === null ? "All answers in the period" : `All answers in the period to “${facts.question}”`;
  return section({ ...BASIS, deck }, [drawKinds(facts.counts), figureList(rows)]);
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
      <p>Computed at ${computedAt}. Reload the page to see new answers; they appear within a minute.</p>
    </section>
  </footer>`;
}
