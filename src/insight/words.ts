/**
 * The words that tell detractors from promoters: log-odds with an informative prior (Monroe, Colaresi and Quinn 2008).
 * A comment counts once for a term, however often it says it. Common words need no list: both groups use them alike.
 */
import { normalCdf } from "./normal.ts";
import { MARK } from "./redact.ts";
import { benjaminiHochberg } from "./segments.ts";

export interface GroupComment {
  readonly id: string;
  readonly text: string;
}

export type CommentGroup = "detractors" | "promoters";

export interface TermRow {
  /** One word or two, in lower case. */
  readonly term: string;
  /** The group that uses it more. */
  readonly group: CommentGroup;
  /** Comments that use it. */
  readonly detractors: number;
  readonly promoters: number;
  /** Positive: detractors use it more. */
  readonly z: number;
  /** Benjamini–Hochberg, over all terms that are frequent enough. */
  readonly q: number;
  /** Comments of the group that use it, the first that came; three at most. */
  readonly quotes: readonly GroupComment[];
}

export interface WordTally {
  add(group: CommentGroup, comment: GroupComment): void;
  /** Comments that were added. */
  readonly comments: Readonly<Record<CommentGroup, number>>;
  /** Terms in at least `minCount` comments; those that differ most first. */
  rows(minCount: number): TermRow[];
}

/** The prior weighs this much of what was seen: enough that one comment more or less says nothing. */
const PRIOR_SHARE = 0.1;
const QUOTES_MAX = 3;

interface Counts {
  readonly detractors: GroupCount;
  readonly promoters: GroupCount;
}

interface GroupCount {
  count: number;
  readonly quotes: GroupComment[];
}

export function createWordTally(): WordTally {
  const terms = new Map<string, Counts>();
  const comments = { detractors: 0, promoters: 0 };
  return {
    comments,
    add(group, comment) {
      const found = termsOf(comment.text);
      if (found.size > 0) comments[group] += 1;
      for (const term of found) {
        const counts = terms.get(term) ?? { detractors: emptyCount(), promoters: emptyCount() };
        terms.set(term, counts);
        const own = counts[group];
        own.count += 1;
        if (own.quotes.length < QUOTES_MAX) own.quotes.push(comment);
      }
    },
    rows: (minCount) => compare(terms, minCount),
  };
}

function emptyCount(): GroupCount {
  return { count: 0, quotes: [] };
}

const WORDS = new Intl.Segmenter("en", { granularity: "word" });

/** The words of a text, and pairs of words that only space separates; each once. */
function termsOf(text: string): Set<string> {
  const found = new Set<string>();
  let before: string | null = null;
  // A mark is no word that anybody said.
  const said = text.replace(MARK, ",").normalize("NFC").replaceAll("’", "'").toLowerCase();
  for (const { segment, isWordLike } of WORDS.segment(said)) {
    if (isWordLike !== true || !/\p{L}/u.test(segment)) {
      if (segment.trim() !== "") before = null;
      continue;
    }
    found.add(segment);
    if (before !== null) found.add(`${before} ${segment}`);
    before = segment;
  }
  return found;
}

function compare(terms: ReadonlyMap<string, Counts>, minCount: number): TermRow[] {
  const all = [...terms.values()];
  const totals = {
    detractors: all.reduce((sum, { detractors }) => sum + detractors.count, 0),
    promoters: all.reduce((sum, { promoters }) => sum + promoters.count, 0),
  };
  const frequent = [...terms].filter(
    ([term, { detractors, promoters }]) =>
      detractors.count + promoters.count >= minCount && !isPartOfOne(term, detractors.count + promoters.count, terms),
  );
  const zs = frequent.map(([, counts]) => logOddsZ(counts, totals));
  const qs = benjaminiHochberg(zs.map((z) => 2 * normalCdf(-Math.abs(z))));
  const rows = frequent.map(([term, counts], index): TermRow => {
    const z = zs[index] ?? 0;
    const group = z >= 0 ? "detractors" : "promoters";
    const { detractors, promoters } = counts;
    const quotes = counts[group].quotes;
    return { term, group, detractors: detractors.count, promoters: promoters.count, z, q: qs[index] ?? 1, quotes };
  });
  return rows.toSorted(
    (a, b) => Math.abs(b.z) - Math.abs(a.z) || wordsIn(a.term) - wordsIn(b.term) || (a.term < b.term ? -1 : 1),
  );
}

/** A pair that is said wherever one of its words is said adds nothing to that word. */
function isPartOfOne(term: string, count: number, terms: ReadonlyMap<string, Counts>): boolean {
  const words = term.split(" ");
  if (words.length === 1) return false;
  return words.some((word) => {
    const own = terms.get(word);
    return own !== undefined && own.detractors.count + own.promoters.count === count;
  });
}

function wordsIn(term: string): number {
  return term.split(" ").length;
}

/** The difference of the log-odds in standard errors; the prior has each term's share of all comments. */
function logOddsZ({ detractors, promoters }: Counts, totals: Readonly<Record<CommentGroup, number>>): number {
  const prior = PRIOR_SHARE * (detractors.count + promoters.count);
  const priorTotal = PRIOR_SHARE * (totals.detractors + totals.promoters);
  const logit = (count: number, total: number): number =>
    Math.log((count + prior) / (total + priorTotal - count - prior));
  const delta = logit(detractors.count, totals.detractors) - logit(promoters.count, totals.promoters);
  const z = delta / Math.sqrt(1 / (detractors.count + prior) + 1 / (promoters.count + prior));
  // A term that is all that a group says leaves nothing to compare it with.
  return Number.isFinite(z) ? z : 0;
}
