import { readLabel } from "../../runtime/calendar/periods.ts";
import { capital } from "../../contract/text/capital.ts";
import { Html, type HtmlValue } from "../../contract/text/html.ts";
import { countOf, formatCount } from "../../contract/text/whole-number.ts";
import { SCORE_MAX, scoreCategory, SEGMENT_VALUES_MAX } from "../../contract/limits.ts";
import { countAnswers, type Kind, kindOf, KINDS } from "../interval.ts";
import { type SegmentRow } from "../segments.ts";
import { explainMark, markPeriod } from "../coverage.ts";
import { drawKinds } from "./bars.ts";
import { BROAD, type ChartWords, drawPeriodScores, drawScores, drawSegments, type Frame, NARROW } from "./charts.ts";
import {
  columnText,
  visibleText,
  CONFIDENCE_WORDS,
  cutText,
  probabilityText,
  rateLabel,
  rateText,
  type ReportComment,
  type ReportFacts,
  scoreFigure,
  type SegmentFacts,
  shareText,
  signedText,
} from "./facts.ts";
import { questionSections } from "./questions.ts";
import { aside, dataTable, htmlPage, section } from "./parts.ts";
import { REPORT_STYLE } from "./style.ts";
import { lean as html } from "./markup.ts";
import { spellDates } from "./spelled-dates.ts";

const COMMENT_BYTES_MAX = 130_000;

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

export function renderReport(facts: ReportFacts): string {
  const metas = html`<meta http-equiv="Content-Security-Policy" content="${new Html(POLICY)}" />
    <meta name="generator" content="surveyctl ${facts.version}" />`;
  return htmlPage({ facts, metas, style: REPORT_STYLE, main: sections(facts), foot: method(facts) });
}

function sections(facts: ReportFacts): (Html | null)[] {
  const deck = `As of ${spellDates(facts.asOf)}, time zone ${facts.zone}`;
  const summary = basis(facts, deck, [["People", formatCount(facts.people)]]);
  const further = questionSections(facts.questions ?? []);
  const parts = [summary, periods(facts), scores(facts), segments(facts), ...further];
  return withComments(parts, { ...facts, hasIds: true });
}

/** With 15,000 bytes for the header and the footer, a page stays below 300,000 bytes. */
const CONTENT_BYTES_MAX = 285_000;

export function withComments(parts: readonly (Html | null)[], facts: CommentFacts): (Html | null)[] {
  const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part?.text ?? ""), 0);
  return [...parts, comments(facts, Math.min(COMMENT_BYTES_MAX, CONTENT_BYTES_MAX - bytes))];
}

const NO_RATE = aside(html`No response rate: the service doesn't report which answers belong to which surveys.`);

export function basis(
  facts: Pick<ReportFacts, "counts" | "commented" | "rates">,
  deck: string,
  more: readonly Figure[] = [],
): Html {
  const { counts, rates } = facts;
  const rows: readonly Figure[] = [
    ["Answers", formatCount(countAnswers(counts))],
    ...more,
    ...kindFigures(facts),
    ...(rates === null ? [] : rates.channels.map((each): Figure => [rateLabel(rates), rateText(each)])),
  ];
  const parts = [drawKinds(counts), figureList(rows), rates === null ? NO_RATE : null];
  return section({ id: "basis", title: "Summary", deck }, parts);
}

type Figure = readonly [name: string, value: string, kind?: Kind];

function kindFigures({ counts, commented }: Pick<ReportFacts, "counts" | "commented">): readonly Figure[] {
  const n = countAnswers(counts);
  const shared = (count: number): string => `${formatCount(count)} (${shareText(count / n)})`;
  return [
    ...KINDS.toReversed().map((kind): Figure => [capital(kind), shared(counts[kind]), kind]),
    ["With a comment", shared(commented)],
  ];
}

function figureList(rows: readonly Figure[]): Html {
  return html`<dl>
    ${rows.map(
      ([name, value, kind]) =>
        html`<div>
          <dt${kind === undefined ? null : html` class="key ${kind.slice(0, -1)}"`}>${name}</dt>
          <dd>${value}</dd>
        </div> `,
    )}
  </dl> `;
}

export function periods({ periods: all }: Pick<ReportFacts, "periods">): Html | null {
  const figures = all.map((period) => ({
    name: markPeriod(spellDates(period.label), period),
    figure: scoreFigure(period.counts),
    counts: period.counts,
  }));
  const known = figures.filter(({ figure }) => figure !== null);
  if (known.length === 0) return null;
  const first = all[0]?.label ?? "";
  const last = all.at(-1)?.label ?? "";
  const title = `Score by ${readLabel(first)?.unit ?? "period"}`;
  const incomplete = explainMark(all);
  const notes = [
    ...(known.some(({ figure }) => figure?.isFew === true)
      ? ["Hollow points: fewer than 10 answers, too few to say."]
      : []),
    ...(incomplete === null ? [] : [`${incomplete}.`]),
  ];
  const rows = figures.map(({ name, figure, counts }) => {
    if (figure === null) return [name, "0", "", "", "", "no answers"];
    const kinds = KINDS.map((kind) => formatCount(counts[kind])).join(" / ");
    const ends = [figure.nps, figure.low, figure.high].map(columnText);
    return [name, formatCount(figure.n), ...ends, figure.isFew ? `${kinds}, too few to say` : kinds];
  });
  const deck = `The score, its ${CONFIDENCE_WORDS} interval (shaded) and the number of answers (n)`;
  return section(
    { id: "periods", title, deck },
    chart({
      id: "chart-periods",
      title,
      description: `The score of each period from ${spellDates(first)} to ${spellDates(last)} as a point within its interval.`,
      draw: (words, frame) => drawPeriodScores(all, words, frame),
      notes,
      heads: ["Period", "n", "NPS", "Low", "High", "Detractors / passives / promoters"],
      rows,
    }),
  );
}

interface Chart extends ChartWords {
  readonly draw: (words: ChartWords, frame: Frame) => Html;
  readonly notes?: readonly string[];
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly heading?: HtmlValue;
  readonly isOpen?: boolean;
}

function chart({ id, title, description, draw, notes = [], heads, rows, heading = null, isOpen = false }: Chart): Html {
  const words = { id, title, description: `${description} The table below has the same numbers.` };
  const charts = [BROAD, NARROW].map((frame) => draw(words, frame));
  const table = html`<details${new Html(isOpen ? " open" : "")}>
<summary>Show data</summary>
${dataTable(title, heads, rows)}</details>
`;
  return html`<figure>${["\n", heading, charts, notes.map(aside), table, "\n"]}</figure> `;
}

export function scores({ scores: counts }: Pick<ReportFacts, "scores">): Html {
  const all = counts.reduce((sum, count) => sum + count, 0);
  const title = "Score distribution";
  const rows = Array.from({ length: SCORE_MAX + 1 }, (_, score) => {
    const count = counts[score] ?? 0;
    return [String(score), formatCount(count), `${((100 * count) / all).toFixed(1)}%`, capital(scoreCategory(score))];
  });
  return section(
    { id: "scores", title, deck: "Answers by score, 0 to 10" },
    chart({
      id: "chart-scores",
      title,
      description: "A bar for each score from 0 to 10.",
      draw: (words, frame) => drawScores(counts, words, frame),
      heads: ["Score", "Answers", "Share", "Kind"],
      rows,
    }),
  );
}

export function segments({ segments: found }: Pick<ReportFacts, "segments">): Html | null {
  if (found === null) return null;
  const names = [...new Set(found.rows.map(({ property }) => property))];
  const { hidden, minN, missing, tooManyValues = [], compared } = found;
  const few = hidden === 1 ? "value with fewer than" : "values with fewer than";
  return section({ id: "segments", title: "Segments", deck: segmentsDeck(found) }, [
    ...names.map((name, index) => segment(name, index, found)),
    hidden === 0
      ? null
      : aside(`${formatCount(hidden)} ${few} ${minN} answers ${hidden === 1 ? "is" : "are"} not shown.`),
    ...missing.map((name) => aside(html`No answer has the property ${isolated(name)}.`)),
    ...tooManyValues.map((name) =>
      aside(html`The property ${isolated(name)} has more than ${SEGMENT_VALUES_MAX} values, too many to show.`),
    ),
    compared && names.length > 0 ? aside(CHANGE_NOTE) : null,
  ]);
}

function isolated(name: string): Html {
  return html`<bdi>${cutText(name, 60)}</bdi>`;
}

const CHANGE_NOTE =
  "Change: from the period before. q: the share of changes with this q or a smaller one that are due to chance. " +
  "A value that goes with a score isn't necessarily its cause.";

function segmentsDeck({ rows, hidden }: SegmentFacts): string {
  if (rows.length > 0) return `The score and its ${CONFIDENCE_WORDS} interval`;
  return hidden > 0 ? "Every value has too few answers" : "No values";
}

function segment(name: string, index: number, { rows: all, compared }: SegmentFacts): Html {
  const rows = all.filter(({ property }) => property === name);
  const title = `Score by ${cutText(name, 60)}`;
  return chart({
    id: `chart-segment-${index + 1}`,
    title,
    description: "The score of each value as a point within its interval, highest first.",
    draw: (words, frame) => drawSegments(rows, words, frame),
    heads: ["Value", "n", "Share", "NPS", "Low", "High", ...(compared ? ["Change", "q"] : [])],
    rows: rows.map((row) => segmentCells(row, compared)),
    heading: [html`<h3 dir="auto">${title}</h3>`, "\n"],
    isOpen: compared,
  });
}

function segmentCells(row: SegmentRow, compared: boolean): string[] {
  const { value, n, share, nps, nps_low: low, nps_high: high, change = null, q = null } = row;
  const cells = [cutText(value, 100), formatCount(n), shareText(share), ...[nps, low, high].map(columnText)];
  if (!compared) return cells;
  return [...cells, change === null ? "too few" : signedText(change), q === null ? "" : probabilityText(q)];
}

interface CommentFacts extends Pick<ReportFacts, "comments" | "commented" | "redacted"> {
  readonly hasIds: boolean;
}

function comments({ comments: newest, commented, redacted, hasIds }: CommentFacts, bytesMax: number): Html {
  const items = foldComments(newest).map((each) => ({ ...each, item: commentItem(each, hasIds) }));
  const listed = withinBytes(items, bytesMax);
  const masked = redacted ? "; personal data is masked, except names of third parties" : "";
  const deck = commented === 0 ? "None" : `The newest ${countFolded(listed)} of ${formatCount(commented)}${masked}`;
  const groups = KINDS.map((kind) => ({ kind, found: listed.filter(({ score }) => kindOf(score) === kind) }));
  return section(
    { id: "comments", title: "Newest comments", deck },
    groups
      .filter(({ found }) => found.length > 0)
      .map(
        ({ kind, found }) =>
          html`<details class="kind" open>
            <summary>${capital(kind)}: ${countFolded(found)}</summary>
            ${numbered(found.slice(0, OPEN_COMMENTS))}
            ${
              found.length > OPEN_COMMENTS
                ? html`<details>
                    <summary>${countFolded(found.slice(OPEN_COMMENTS))} more</summary>
                    ${numbered(found.slice(OPEN_COMMENTS))}
                  </details> `
                : null
            }
          </details> `,
      ),
  );
}

const OPEN_COMMENTS = 10;

function numbered(listed: readonly CommentItem[]): Html {
  return html`<ol>
    ${listed.map(({ item }) => item)}
  </ol>`;
}

/** The newest of several comments with the same words, with the scores of all of them. */
interface FoldedComment extends ReportComment {
  readonly scores: readonly number[];
}

interface CommentItem extends FoldedComment {
  readonly item: Html;
}

function foldComments(newest: readonly ReportComment[]): FoldedComment[] {
  const folded = new Map<string, FoldedComment>();
  for (const comment of newest) {
    const key = `${kindOf(comment.score)} ${comment.text.trim().replace(/\s+/gu, " ").toLowerCase()}`;
    const known = folded.get(key) ?? { ...comment, scores: [] };
    folded.set(key, { ...known, scores: [...known.scores, comment.score] });
  }
  return [...folded.values()];
}

function countFolded(folded: readonly FoldedComment[]): string {
  return formatCount(folded.reduce((sum, { scores: all }) => sum + all.length, 0));
}

function withinBytes(items: readonly CommentItem[], bytesMax: number): CommentItem[] {
  let bytes = 0;
  return items.filter(({ item }) => (bytes += Buffer.byteLength(item.text)) <= bytesMax);
}

function commentItem({ id, score, scores: all, text, at, person, url }: FoldedComment, hasIds: boolean): Html {
  const named = url === null ? html`[${id}]` : html`<a class="id" rel="noreferrer" href="${url}">[${id}]</a>`;
  const [least, most] = [Math.min(...all), Math.max(...all)];
  const parts = [
    spellDates(at),
    hasIds ? named : null,
    person,
    all.length > 1 ? html`<b>× ${formatCount(all.length)}</b>` : null,
  ];
  return html`<li class="${scoreCategory(score)}">
    <p class="who ${scoreCategory(score)}">
      <b>${least === most ? score : `${least}–${most}`}</b>
      <bdi>${parts.filter((part) => part !== null).map((part, index) => html`${index > 0 ? " · " : ""}${part}`)}</bdi>
    </p>
    <blockquote dir="auto">${cutText(visibleText(text))}</blockquote>
  </li> `;
}

function method({ counts, change, rowsHash, asOf, command, version }: ReportFacts): Html {
  const compared = change === null ? "" : ", plus those of the period they are compared with";
  return html`<footer>
    <section aria-labelledby="method">
      <h2 id="method">Method</h2>
      <p>
        NPS is the percentage of promoters (9 and 10) minus the percentage of detractors (0 to 6). Intervals are
        adjusted Wald intervals (Rocks 2016): ${CONFIDENCE_WORDS} of them contain the true score. They don't account for
        who chose to answer, several answers by one person, language, channel or season.
      </p>
      <p>
        Made by surveyctl ${version} as of ${asOf} from ${countOf(countAnswers(counts), "answer")}${compared}. SHA-256
        of the rows:
      </p>
      <pre><code>${rowsHash}</code></pre>
      <p>Command:</p>
      <pre><code>${command}</code></pre>
    </section>
  </footer> `;
}
