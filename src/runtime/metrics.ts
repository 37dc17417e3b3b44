import type { Clock } from "./clock.ts";

/** Durations are in seconds, sizes in bytes, and counters end in `_total`. */
export interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** Label names, in the order of the values. Each needs few values, so no people. */
  readonly labels?: readonly string[];
}

export type MetricSample = readonly [values: readonly string[], value: number];

/** Upper bounds in seconds that OpenTelemetry names for `http.server.request.duration`. */
export const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10] as const;

const SEPARATOR = "\n";

/** `known` series start at 0, so that their first increase is visible. */
export function createCounter(known: readonly (readonly string[])[] = []) {
  const counts = new Map<string, number>(known.map((values) => [values.join(SEPARATOR), 0]));
  return {
    add: (values: readonly string[] = [], by: number = 1): void => {
      const key = values.join(SEPARATOR);
      counts.set(key, (counts.get(key) ?? 0) + by);
    },
    samples: (): readonly MetricSample[] =>
      [...counts].map(([key, count]) => [key === "" ? [] : key.split(SEPARATOR), count]),
  };
}

interface Series {
  /** Values per bucket; the last is for those above all bounds. */
  readonly counts: number[];
  sum: number;
}

export function createHistogram(family: Family, bounds: readonly number[]) {
  const series = new Map<string, Series>();
  const begin = (key: string): Series => {
    const made = { counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 };
    series.set(key, made);
    return made;
  };
  if ((family.labels ?? []).length === 0) begin("");
  return {
    observe: (value: number, values: readonly string[] = []): void => {
      const key = values.join(SEPARATOR);
      const one = series.get(key) ?? begin(key);
      let at = 0;
      while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
      one.counts[at] = (one.counts[at] ?? 0) + 1;
      one.sum += value;
    },
    lines: (): readonly string[] => [
      ...familyHead(family),
      ...[...series].flatMap(([key, one]) => seriesLines(family, bounds, key === "" ? [] : key.split(SEPARATOR), one)),
    ],
  };
}

function seriesLines(
  { name, labels = [] }: Family,
  bounds: readonly number[],
  values: readonly string[],
  { counts, sum }: Series,
): string[] {
  let count = 0;
  const buckets = [...bounds.map(String), "+Inf"].map((bound, at) => {
    count += counts[at] ?? 0;
    return `${name}_bucket${labelText([...labels, "le"], [...values, bound])} ${count}`;
  });
  const own = labelText(labels, values);
  return [...buckets, `${name}_sum${own} ${roundSum(sum)}`, `${name}_count${own} ${count}`];
}

/** To a nanosecond, which removes rounding errors of the sum. */
function roundSum(sum: number): number {
  return Math.round(sum * 1e9) / 1e9;
}

export function writeFamily(family: Family, samples: readonly MetricSample[]): readonly string[] {
  const { name, labels = [] } = family;
  return [...familyHead(family), ...samples.map(([values, value]) => `${name}${labelText(labels, values)} ${value}`)];
}

function familyHead({ name, type, help }: Family): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function labelText(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return "";
  return `{${names.map((name, at) => `${name}="${escape(values[at] ?? "")}"`).join(",")}}`;
}

function escape(value: string): string {
  return value.replaceAll("\\", String.raw`\\`).replaceAll('"', String.raw`\"`);
}

/**
 * Reads at most once in `ms` milliseconds after the last read; callers share the one in progress. Failures aren't
 * cached.
 */
export function readAtMostEvery<Value>(
  clock: Pick<Clock, "monotonic">,
  ms: number,
  read: () => Promise<Value>,
): () => Promise<Value> {
  const state: { kept: { readonly value: Value; readonly atMs: number } | null; running: Promise<Value> | null } = {
    kept: null,
    running: null,
  };
  const run = async (): Promise<Value> => {
    try {
      const value = await read();
      state.kept = { value, atMs: clock.monotonic() };
      return value;
    } finally {
      state.running = null;
    }
  };
  return async () => {
    if (state.kept !== null && clock.monotonic() - state.kept.atMs < ms) return state.kept.value;
    return (state.running ??= run());
  };
}
