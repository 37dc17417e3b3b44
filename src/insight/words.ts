/** Words that distinguish detractors from promoters: log-odds with an informative prior (Monroe and others 2008). */
import { createCommonCheck } from "./common-words.ts";
import { normalCdf } from "./normal.ts";
import { MARK } from "./redact.ts";
import { benjaminiHochberg } from "./segments.ts";

interface GroupComment {
  readonly id: string;
  readonly text: string;
}

export type CommentGroup = "detractors" | "promoters";

export interface TermRow {
  readonly term: string;
  readonly group: CommentGroup;
  readonly detractors: number;
  readonly promoters: number;
  readonly z: number;
  readonly q: number;
  /** The first comments of the group that use the term, at most three. */
  readonly quotes: readonly GroupComment[];
  readonly detractors_share: number;
  readonly promoters_share: number;
}

export interface WordTally {
  add(group: CommentGroup, comment: GroupComment): void;
  readonly comments: Readonly<Record<CommentGroup, number>>;
  rows(minCount: number): TermRow[];
}

/** Weight of the prior, large enough that a single comment makes no difference. */
const PRIOR_SHARE = 0.1;
const QUOTES_MAX = 3;

type Counts = Readonly<Record<CommentGroup, GroupCount>>;

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
      const found = extractTerms(comment.text);
      comments[group] += 1;
      for (const term of found) {
        const counts = terms.get(term) ?? { detractors: emptyCount(), promoters: emptyCount() };
        terms.set(term, counts);
        const own = counts[group];
        own.count += 1;
        if (own.quotes.length < QUOTES_MAX) own.quotes.push(comment);
      }
    },
    rows: (minCount) => compare(terms, comments, minCount),
  };
}

function emptyCount(): GroupCount {
  return { count: 0, quotes: [] };
}

const WORDS = new Intl.Segmenter("en", { granularity: "word" });

/** The segmenter's time grows with the square of the length, so long texts are cut at spaces first. */
const STRETCH = /[^]{1,400}(?!\S)|[^]{1,400}/gu;

/** An article before a word, as in `l'application`. */
const ELISION = /^(?:l|d|j|m|t|s|n|c|qu|un|all|dall|dell|nell|sull|quell)'(?=\p{L}{2})/u;

function extractTerms(text: string): Set<string> {
  const plain = text.replace(MARK, ",").normalize("NFC").replaceAll("’", "'").toLowerCase();
  const segments = (plain.match(STRETCH) ?? [])
    .flatMap((stretch) => [...WORDS.segment(stretch)])
    .map(({ segment, isWordLike }) => ({
      word: isWordLike === true && /\p{L}/u.test(segment) ? segment.replace(ELISION, "") : null,
      isSpace: segment.trim() === "",
    }))
    .filter(({ isSpace }) => !isSpace);
  const isCommon = createCommonCheck(segments.flatMap(({ word }) => word ?? []));
  const found = new Set<string>();
  let before: string | null = null;
  for (const { word } of segments) {
    const meant: string | null = word === null || isCommon(word) ? null : word;
    if (meant !== null) found.add(meant);
    if (meant !== null && before !== null) found.add(`${before} ${meant}`);
    before = meant;
  }
  return found;
}

function compare(
  terms: ReadonlyMap<string, Counts>,
  comments: Readonly<Record<CommentGroup, number>>,
  minCount: number,
): TermRow[] {
  const all = [...terms.values()];
  const totals = {
    detractors: all.reduce((sum, { detractors }) => sum + detractors.count, 0),
    promoters: all.reduce((sum, { promoters }) => sum + promoters.count, 0),
  };
  const many = new Map([...terms].filter(([, counts]) => mentionCount(counts) >= minCount));
  const carried = carriedWords(many);
  const frequent = [...many].filter(([term]) => !carried.has(term));
  const zs = frequent.map(([, counts]) => logOddsZ(counts, totals));
  const qs = benjaminiHochberg(zs.map((z) => 2 * normalCdf(-Math.abs(z))));
  const rows = frequent.map(([term, counts], index): TermRow => {
    const z = zs[index] ?? 0;
    const group = z >= 0 ? "detractors" : "promoters";
    const [detractors, promoters] = [counts.detractors.count, counts.promoters.count];
    const shares = {
      detractors_share: share(detractors, comments.detractors),
      promoters_share: share(promoters, comments.promoters),
    };
    const quotes = counts[group].quotes;
    return { term, group, detractors, promoters, z, q: qs[index] ?? 1, quotes, ...shares };
  });
  return rows.toSorted(
    (a, b) => Math.abs(b.z) - Math.abs(a.z) || wordsIn(b.term) - wordsIn(a.term) || (a.term < b.term ? -1 : 1),
  );
}

function mentionCount({ detractors, promoters }: Counts): number {
  return detractors.count + promoters.count;
}

function share(part: number, all: number): number {
  return all === 0 ? 0 : part / all;
}

const CARRIED_SHARE = 0.8;

/** Words that rarely occur outside a pair: "wrong" and "invoice" in "wrong invoice". */
function carriedWords(terms: ReadonlyMap<string, Counts>): ReadonlySet<string> {
  const carried = new Set<string>();
  for (const [pair, counts] of terms) {
    const words = pair.split(" ");
    if (words.length === 1) continue;
    for (const word of words) {
      const own = terms.get(word);
      if (own !== undefined && mentionCount(counts) >= CARRIED_SHARE * mentionCount(own)) carried.add(word);
    }
  }
  return carried;
}

function wordsIn(term: string): number {
  return term.split(" ").length;
}

function logOddsZ({ detractors, promoters }: Counts, totals: Readonly<Record<CommentGroup, number>>): number {
  const prior = PRIOR_SHARE * (detractors.count + promoters.count);
  const priorTotal = PRIOR_SHARE * (totals.detractors + totals.promoters);
  const logit = (count: number, total: number): number =>
    Math.log((count + prior) / (total + priorTotal - count - prior));
  const delta = logit(detractors.count, totals.detractors) - logit(promoters.count, totals.promoters);
  const z = delta / Math.sqrt(1 / (detractors.count + prior) + 1 / (promoters.count + prior));
  return Number.isFinite(z) ? z : 0;
}
