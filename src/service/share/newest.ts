import type { JsonObject } from "../../contract/json.ts";
import { createMaskedAnswers } from "../../insight/answers/masked-answers.ts";
import { type ReportComment, reportComments } from "../../insight/report/facts.ts";
import type { LiveFacts } from "../../insight/report/live-page.ts";
import { nextTurn } from "../../runtime/clock.ts";
import { utcDay } from "../../runtime/zone.ts";
import type { Store } from "../domain/ports.ts";
import type { ShareRow } from "../domain/shares/share-rows.ts";
import { newestResponses } from "../newest-responses.ts";
import { dayText } from "./ranges.ts";

const NEWEST_MAX = 500;
/** Characters of these answers as JSON; counting more would take too long. */
const TEXT_MAX = 1_000_000;
const COMMENTS_MAX = 200;

export type NewestFacts = Pick<LiveFacts, "questions" | "questionsAmong" | "comments">;

interface Range {
  readonly since: number;
  readonly until: number;
}

/** `count` is the number of answers in the range. Personal data is masked. */
export async function readNewest(store: Store, share: ShareRow, range: Range, count: number): Promise<NewestFacts> {
  const { showsComments } = share;
  const haveQuestions = await store.read((tx) => tx.responses.haveAnswers(share.project.id));
  const rows = showsComments || haveQuestions ? await readRows(store, share, range) : [];
  const comments = showsComments ? toComments(rows) : null;
  await nextTurn();
  const answers = createMaskedAnswers({ personal: false });
  for (const row of rows.toReversed()) answers.add(row);
  // Free answers count as comments.
  const questions = answers.results().map((one) => (showsComments ? one : { ...one, words: null }));
  return { questions, questionsAmong: rows.length < count ? rows.length : null, comments };
}

async function readRows(store: Store, { project, trendId }: ShareRow, range: Range): Promise<readonly JsonObject[]> {
  const rows: JsonObject[] = [];
  let [seen, characters] = [0, 0];
  for await (const text of newestResponses(store, project.id, { ...range, trendId })) {
    characters += text.length;
    if (characters > TEXT_MAX) break;
    const row = JSON.parse(text) as JsonObject;
    if (row["survey_type"] === "nps") rows.push(row);
    seen += 1;
    if (seen === NEWEST_MAX) break;
  }
  return rows;
}

function toComments(rows: readonly JsonObject[]): readonly ReportComment[] {
  const commented = rows.filter(({ comment }) => typeof comment === "string" && comment.trim() !== "");
  return reportComments(commented.slice(0, COMMENTS_MAX), { personal: false, day: (at) => dayText(utcDay(at)) });
}
