import { SEGMENT_VALUES_MAX } from "../contract/limits.ts";
import { countAnswers, type Kind, KINDS, netPromoterScore, noScores, scoreChange, scoreInterval } from "./interval.ts";

export class TooManyValuesError extends Error {
  override readonly name = "TooManyValuesError";
  readonly property: string;

  constructor(property: string) {
    super(`the property ${property} has more than ${SEGMENT_VALUES_MAX} values`);
    this.property = property;
  }
}

const SIDES = ["before", "after"] as const;
export type Side = (typeof SIDES)[number];

/** Without a comparison, all answers are in `after`. */
type PeriodCounts = Readonly<Record<Side, Record<Kind, number>>>;

export interface SegmentTally {
  readonly all: PeriodCounts;
  readonly having: ReadonlyMap<string, PeriodCounts>;
  /** By property and value. An answer with several choices counts once for each. */
  readonly values: ReadonlyMap<string, Map<string, PeriodCounts>>;
}

export function createTally(properties: readonly string[]): SegmentTally {
  return {
    all: noAnswers(),
    having: new Map(properties.map((property) => [property, noAnswers()])),
    values: new Map(properties.map((property) => [property, new Map()])),
  };
}

/** Counts an answer. `valueOf` returns a property's value or values, or null. Throws TooManyValuesError. */
export function addAnswer(
  tally: SegmentTally,
  { kind, side }: { readonly kind: Kind; readonly side: Side },
  valueOf: (property: string) => string | readonly string[] | null,
): void {
  const one = noAnswers();
  one[side][kind] = 1;
  addCounts(tally.all, one);
  for (const property of tally.values.keys()) addValue(tally, property, valueOf(property) ?? [], one);
}

export function addValue(
  tally: SegmentTally,
  property: string,
  value: string | readonly string[],
  counts: PeriodCounts,
): void {
  const values = [value].flat();
  if (values.length > 0) addCounts(tally.having.get(property) ?? noAnswers(), counts);
  for (const each of values) addCounts(valueCounts(tally, property, each), counts);
}

type ValueName = (property: string, value: string) => string;

export function nameValues(tally: SegmentTally, nameOf: ValueName): SegmentTally {
  const named = createTally([...tally.values.keys()]);
  mergeTally(named, tally, nameOf);
  return named;
}

export function mergeTally(tally: SegmentTally, more: SegmentTally, nameOf: ValueName = (_, value) => value): void {
  addCounts(tally.all, more.all);
  for (const [property, counts] of more.having) addCounts(tally.having.get(property) ?? noAnswers(), counts);
  for (const [property, values] of more.values)
    for (const [value, counts] of values) addCounts(valueCounts(tally, property, nameOf(property, value)), counts);
}

function valueCounts(tally: SegmentTally, property: string, value: string): PeriodCounts {
  const values = tally.values.get(property) ?? new Map<string, PeriodCounts>();
  const known = values.get(value);
  if (known !== undefined) return known;
  if (values.size >= SEGMENT_VALUES_MAX) throw new TooManyValuesError(property);
  const counts = noAnswers();
  values.set(value, counts);
  return counts;
}

function noAnswers(): PeriodCounts {
  return { before: noScores(), after: noScores() };
}

function addCounts(counts: PeriodCounts, more: PeriodCounts, sign: 1 | -1 = 1): void {
  for (const side of SIDES) for (const kind of KINDS) counts[side][kind] += sign * more[side][kind];
}

export interface SegmentRow {
  readonly property: string;
  readonly value: string;
  readonly n: number;
  /** From 0 to 1, as a share of the answers that have the property. */
  readonly share: number;
  readonly nps: number;
  readonly nps_low: number;
  readonly nps_high: number;
  /** Null, like `p` and `q`, if the previous period has too few answers. */
  readonly change?: number | null;
  readonly p?: number | null;
  /** Benjamini–Hochberg: the expected share of false positives among the changes with this `q` or less. */
  readonly q?: number | null;
}

export interface SegmentOptions {
  readonly confidence: number;
  /**
   * Minimum answers per value; values with fewer are left out. If only the earlier period has fewer, the row has no
   * change.
   */
  readonly minN: number;
  readonly compared: boolean;
}

/** Each property's most frequent values come first. `hidden` counts values below `minN`. */
export function segmentRows(
  tally: SegmentTally,
  { confidence, minN, compared }: SegmentOptions,
): { readonly rows: readonly SegmentRow[]; readonly hidden: number } {
  const found = [...tally.values].flatMap(([property, values]) => {
    const sizes = [...values].map(([value, counts]) => ({ value, counts, n: countAnswers(counts.after) }));
    const answers = countAnswers((tally.having.get(property) ?? tally.all).after);
    return sizes
      .toSorted((a, b) => b.n - a.n || (a.value < b.value ? -1 : 1))
      .map((size) => ({ ...size, property, share: size.n / answers }));
  });
  const shown = found.filter(({ n }) => n >= minN);
  const rows = shown.map(({ property, value, counts, n, share }): SegmentRow => {
    const interval = scoreInterval(counts.after, confidence);
    const row = {
      property,
      value,
      n,
      share,
      nps: netPromoterScore(counts.after) ?? 0,
      nps_low: interval?.low ?? -100,
      nps_high: interval?.high ?? 100,
    };
    if (!compared) return row;
    const change = countAnswers(counts.before) < minN ? null : scoreChange(counts.before, counts.after, confidence);
    return { ...row, change: change?.change ?? null, p: change?.p ?? null };
  });
  const hidden = found.filter(({ n, counts }) => n < minN && n + countAnswers(counts.before) > 0).length;
  return { rows: compared ? withQ(rows) : rows, hidden };
}

function withQ(rows: readonly SegmentRow[]): SegmentRow[] {
  const tested = rows.flatMap(({ p }) => (typeof p === "number" ? [p] : []));
  const qs = benjaminiHochberg(tested).values();
  return rows.map((row) => ({ ...row, q: typeof row.p === "number" ? (qs.next().value ?? null) : null }));
}

/** False discovery rates, in the order given (Benjamini and Hochberg 1995). */
export function benjaminiHochberg(ps: readonly number[]): number[] {
  const order = ps.map((_, index) => index).toSorted((a, b) => (ps[b] ?? 0) - (ps[a] ?? 0));
  const qs = ps.map(() => 1);
  let least = 1;
  for (const [place, index] of order.entries()) {
    least = Math.min(least, (ps[index] ?? 1) * (ps.length / (ps.length - place)));
    qs[index] = least;
  }
  return qs;
}

export function hasOverlaps(tally: SegmentTally, property: string): boolean {
  const counted = [...(tally.values.get(property)?.values() ?? [])].reduce(
    (sum, counts) => sum + answerCount(counts),
    0,
  );
  return counted > answerCount(tally.having.get(property) ?? noAnswers());
}

function answerCount({ before, after }: PeriodCounts): number {
  return countAnswers(before) + countAnswers(after);
}

interface ChangePart {
  /** Null for the answers that don't have the property. */
  readonly value: string | null;
  readonly n_before: number;
  readonly n: number;
  readonly share_before: number;
  readonly share: number;
  readonly nps_before: number | null;
  readonly nps: number | null;
  readonly mix: number;
  readonly within: number;
}

/** In points. `change` is `mix + within`, each summed over the segments. */
export interface ChangeSplit {
  readonly change: number;
  readonly mix: number;
  readonly within: number;
  readonly segments: readonly ChangePart[];
}

/** Splits a change into mix and within (Kitagawa 1955). Null if either period has no answers. */
export function explainChange(tally: SegmentTally, property: string): ChangeSplit | null {
  const { all } = tally;
  const [before, after] = [countAnswers(all.before), countAnswers(all.after)];
  if (before === 0 || after === 0) return null;
  const values = [...(tally.values.get(property) ?? [])];
  const rest = noAnswers();
  addCounts(rest, all);
  addCounts(rest, tally.having.get(property) ?? noAnswers(), -1);
  const groups: readonly (readonly [string | null, PeriodCounts])[] = [...values, [null, rest]];
  const segments = groups.flatMap(([value, counts]): ChangePart[] => {
    const [first, second] = [netPromoterScore(counts.before), netPromoterScore(counts.after)];
    // If a segment is new or has vanished, all of its change is mix.
    const [s1, s2] = [first ?? second, second ?? first];
    if (s1 === null || s2 === null) return [];
    const sizes = { n_before: countAnswers(counts.before), n: countAnswers(counts.after) };
    const [w1, w2] = [sizes.n_before / before, sizes.n / after];
    const parts = { mix: ((w2 - w1) * (s1 + s2)) / 2, within: ((s2 - s1) * (w1 + w2)) / 2 };
    return [{ value, ...sizes, share_before: w1, share: w2, nps_before: first, nps: second, ...parts }];
  });
  const ordered = segments.toSorted((a, b) => b.n + b.n_before - a.n - a.n_before);
  const mix = ordered.reduce((sum, part) => sum + part.mix, 0);
  const within = ordered.reduce((sum, part) => sum + part.within, 0);
  return { change: mix + within, mix, within, segments: ordered };
}
