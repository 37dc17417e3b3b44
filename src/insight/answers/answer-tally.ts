import { type PlainAnswer, plainAnswers } from "../../contract/questions/additional-answers.ts";
import type { JsonObject } from "../../contract/json.ts";
import { SCALE_MAX } from "../../contract/questions/questions.ts";
import { type Kind, kindOf, netPromoterScore, noScores, scoreInterval } from "../interval.ts";
import { type Distribution, meanInterval, shareInterval } from "./proportions.ts";
import { type ShownTexts, choiceName, countTexts, questionName } from "./shown-texts.ts";
import { createWordTally, type TermRow, type WordTally } from "../words.ts";

export interface ValueRow {
  readonly value: string;
  readonly n: number;
  readonly share: number;
  readonly share_low: number;
  readonly share_high: number;
  readonly nps: number | null;
  readonly nps_low: number | null;
  readonly nps_high: number | null;
}

interface MeanRow {
  readonly mean: number;
  readonly mean_low: number;
  readonly mean_high: number;
}

/** Answers to a question. Imported answers to a scale question can also be words, which get a separate result. */
export interface QuestionResult {
  readonly question: string;
  readonly type: string;
  /** The most common wording; translations and newer versions of the question can differ. */
  readonly text: string;
  readonly answered: number;
  /** Most frequent choices first, numbers in order; empty for free text. */
  readonly values: readonly ValueRow[];
  readonly mean: MeanRow | null;
  readonly words: readonly TermRow[] | null;
}

export interface AnswerTally {
  add(row: JsonObject): void;
  results(minCount: number): readonly QuestionResult[];
}

interface Counted {
  readonly counts: Record<Kind, number>;
  n: number;
}

interface QuestionCounts {
  type: string;
  answered: number;
  readonly values: Map<string, Counted>;
  readonly numbers: Map<number, number>;
  readonly words: WordTally;
}

/** `only` is the question to count; null counts all. Tallies that share `texts` use the same names for choices. */
export function createAnswerTally(only: string | null = null, texts: ShownTexts = new Map()): AnswerTally {
  const questions = new Map<string, Map<string, QuestionCounts>>();
  return {
    add(row) {
      const { score } = row;
      const kind = typeof score === "number" && score >= 0 && score <= 10 ? kindOf(score) : null;
      const id = typeof row["id"] === "string" ? row["id"] : JSON.stringify(row["id"] ?? null);
      for (const answer of plainAnswers(row))
        if (only === null || answer.id === only) {
          countTexts(texts, answer);
          addAnswer(questions, answer, { id, kind });
        }
    },
    results: (minCount) =>
      [...questions].flatMap(([question, kinds]) => {
        const nameOf = (choice: string): string => choiceName(texts, question, choice);
        const about = { question, text: questionName(texts, question) };
        return [...kinds.values()].map((counts) => ({ ...about, ...toResult(counts, nameOf, minCount) }));
      }),
  };
}

function addAnswer(
  questions: Map<string, Map<string, QuestionCounts>>,
  answer: PlainAnswer,
  { id, kind }: { readonly id: string; readonly kind: Kind | null },
): void {
  const { value } = answer;
  const kinds = questions.get(answer.id) ?? new Map<string, QuestionCounts>();
  questions.set(answer.id, kinds);
  const counts = kinds.get(typeof value) ?? noCounts();
  kinds.set(typeof value, counts);
  counts.type = answer.type;
  counts.answered += 1;
  if (typeof value === "string") {
    if (kind !== null && kind !== "passives") counts.words.add(kind, { id, text: value });
    return;
  }
  if (typeof value === "number") counts.numbers.set(value, (counts.numbers.get(value) ?? 0) + 1);
  const given = typeof value === "number" ? [String(value)] : value.map((choice) => choice.id);
  for (const choice of new Set(given)) count(counts, choice, kind);
}

function noCounts(): QuestionCounts {
  return { type: "", answered: 0, values: new Map(), numbers: new Map(), words: createWordTally() };
}

function count({ values }: QuestionCounts, choice: string, kind: Kind | null): void {
  const counted = values.get(choice) ?? { counts: noScores(), n: 0 };
  values.set(choice, counted);
  counted.n += 1;
  if (kind !== null) counted.counts[kind] += 1;
}

function toResult(
  { type, answered, values, numbers, words }: QuestionCounts,
  nameOf: (choice: string) => string,
  minCount: number,
): Omit<QuestionResult, "question" | "text"> {
  const isScale = numbers.size > 0;
  const rows = [...values].map(([id, counted]) => ({ id, row: { value: nameOf(id), ...toCounts(counted, answered) } }));
  const ordered = isScale
    ? rows.toSorted((one, other) => Number(one.id) - Number(other.id))
    : rows.toSorted((one, other) => other.row.n - one.row.n);
  return {
    type,
    answered,
    values: ordered.map(({ row }) => row),
    mean: isScale ? toMeanRow(numbers) : null,
    words: values.size === 0 ? words.rows(minCount) : null,
  };
}

function toCounts({ counts, n }: Counted, answered: number): Omit<ValueRow, "value"> {
  const share = shareInterval(n, answered);
  const interval = scoreInterval(counts);
  return {
    n,
    share: n / answered,
    share_low: share?.low ?? 0,
    share_high: share?.high ?? 1,
    nps: netPromoterScore(counts),
    nps_low: interval?.low ?? null,
    nps_high: interval?.high ?? null,
  };
}

/** The API doesn't return the ends of the scale, so the widest possible scale is assumed. */
function toMeanRow(numbers: Distribution): MeanRow | null {
  const found = meanInterval(numbers, { from: 0, to: SCALE_MAX });
  return found === null ? null : { mean: found.mean, mean_low: found.low, mean_high: found.high };
}
