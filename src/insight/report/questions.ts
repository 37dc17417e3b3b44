import type { JsonObject } from "../../contract/json.ts";
import type { Html } from "../../contract/text/html.ts";
import { countOf, formatCount } from "../../contract/text/whole-number.ts";
import type { QuestionResult, ValueRow } from "../answers/answer-tally.ts";
import { drawShare } from "./bars.ts";
import { columnText, CONFIDENCE_WORDS, cutText, scoreText, shareText, visibleText } from "./facts.ts";
import { lean as html } from "./markup.ts";
import { dataTable, section } from "./parts.ts";

const WORDS_MAX = 10;
const VALUES_MAX = 5;

/** `among` is the number of responses that were counted; null for all. */
export function questionSections(questions: readonly QuestionResult[], among: number | null = null): readonly Html[] {
  return questions.map((result, index) =>
    section(
      { id: `question-${index + 1}`, title: questionTitle(result), deck: questionSummary(result, among) },
      result.values.length === 0 ? null : valueTable(result),
    ),
  );
}

function questionTitle({ text, question }: QuestionResult): string {
  return cutText(visibleText(text === "" ? question : text), 200);
}

/** `24 answers; mean 3.9, between 3.2 and 4.4.` or `24 of the newest 500 answers`. */
function questionSummary({ answered, mean, words }: QuestionResult, among: number | null = null): string {
  const count =
    among === null ? countOf(answered, "answer") : `${formatCount(answered)} of the newest ${countOf(among, "answer")}`;
  if (mean !== null)
    return `${count}; mean ${columnText(mean.mean)}, between ${columnText(mean.mean_low)} and ${columnText(mean.mean_high)} (${CONFIDENCE_WORDS} interval)`;
  if (words === null || words.length === 0) return count;
  const terms = words.slice(0, WORDS_MAX).map(({ term, group }) => `${term} (${group})`);
  return `${count}; words that tell detractors from promoters: ${terms.join(", ")}`;
}

function valueTable(result: QuestionResult): Html {
  const { values, mean } = result;
  const heads = [mean === null ? "Answer" : "Number", "n", "Share", "Low", "High", "NPS"];
  return dataTable(questionTitle(result), heads, values.map(valueCells));
}

function valueCells({ value, n, share, share_low: low, share_high: high, nps }: ValueRow): (string | Html)[] {
  const name = html`${cutText(visibleText(value), 100)} ${drawShare(share)}`;
  return [name, formatCount(n), ...[share, low, high].map(shareText), nps === null ? "" : scoreText(nps)];
}

function questionLines(result: QuestionResult): readonly string[] {
  const lines = result.values.slice(0, VALUES_MAX).map(({ value, n, share, nps }) => {
    const score = nps === null ? "" : `, NPS ${scoreText(nps)}`;
    return `${shareText(share)} (${formatCount(n)})${score}: ${cutText(visibleText(value), 100)}`;
  });
  return [questionTitle(result), questionSummary(result), ...lines];
}

export function questionText(result: QuestionResult): readonly string[] {
  const [title = "", ...lines] = questionLines(result);
  return ["", title, ...lines.map((line) => `  ${line}`)];
}

const CELL = "padding:10px 0;border-top:1px solid #d8dde1;font-family:Helvetica,Arial,sans-serif;color:#16191d";

export function questionRow(result: QuestionResult): Html {
  const [title = "", ...lines] = questionLines(result);
  return html`<tr>
    <td class="edge ink" style="${CELL};font-size:14px;line-height:20px">
      <b dir="auto" style="unicode-bidi:isolate">${title}</b>
      ${lines.map((line) => html`<div dir="auto" style="unicode-bidi:isolate">${line}</div> `)}
    </td>
  </tr>`;
}

export function questionBlock(result: QuestionResult): JsonObject {
  const [title = "", ...lines] = questionLines(result);
  return {
    type: "rich_text",
    elements: [
      { type: "rich_text_section", elements: [{ type: "text", text: title, style: { bold: true } }] },
      { type: "rich_text_quote", elements: [{ type: "text", text: lines.join("\n") }] },
    ],
  };
}
