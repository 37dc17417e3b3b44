import type { Clock } from "./clock.ts";

/** Durations are in seconds, sizes in bytes, and counters end in `_total`. */
export interface Family {
  readonly name: string;
  readonly help: string;
  /** Label names, in the order of the values. A label must have few distinct values, so never use a person. */
  readonly labels?: readonly string[];
}

export type MetricSample = readonly [values: readonly string[], value: number];

/** Upper bounds in seconds, as OpenTelemetry recommends for `http.server.request.duration`. */
export const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10] as const;

const SEPARATOR = "\n";

export class Counter {
  readonly #family: Family;
  readonly #counts: Map<string, number>;

  /** Series in `known` start at 0, so that their first increase is visible. */
  constructor(family: Family, known: readonly (readonly string[])[] = []) {
    this.#family = family;
    this.#counts = new Map(known.map((values) => [values.join(SEPARATOR), 0]));
  }

  add(values: readonly string[] = [], by = 1): void {
    const key = values.join(SEPARATOR);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + by);
  }

  lines(): readonly string[] {
    const samples = [...this.#counts].map(([key, count]): MetricSample => [labelValues(key), count]);
    return writeFamily("counter", this.#family, samples);
  }
}

interface Series {
  /** Number of values per bucket; the last bucket has those above all bounds. */
  readonly counts: number[];
  sum: number;
}

export class Histogram {
  readonly #family: Family;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series>();

  constructor(family: Family, bounds: readonly number[]) {
    this.#family = family;
    this.#bounds = bounds;
    if ((family.labels ?? []).length === 0) this.#begin("");
  }

  observe(value: number, values: readonly string[] = []): void {
    const key = values.join(SEPARATOR);
    const series = this.#series.get(key) ?? this.#begin(key);
    let at = 0;
    while (at < this.#bounds.length && value > (this.#bounds[at] ?? 0)) at += 1;
    series.counts[at] = (series.counts[at] ?? 0) + 1;
    series.sum += value;
  }

  lines(): readonly string[] {
    const all = [...this.#series].flatMap(([key, one]) =>
      seriesLines(this.#family, this.#bounds, labelValues(key), one),
    );
    return [...familyHead("histogram", this.#family), ...all];
  }

  #begin(key: string): Series {
    const series = { counts: Array.from({ length: this.#bounds.length + 1 }, () => 0), sum: 0 };
    this.#series.set(key, series);
    return series;
  }
}

function labelValues(key: string): readonly string[] {
  return key === "" ? [] : key.split(SEPARATOR);
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
  // Rounding to a nanosecond removes floating-point errors.
  return [...buckets, `${name}_sum${own} ${Math.round(sum * 1e9) / 1e9}`, `${name}_count${own} ${count}`];
}

export function writeGauge(family: Family, samples: readonly MetricSample[] | number): readonly string[] {
  return writeFamily("gauge", family, samples);
}

/** Writes a counter whose value is stored elsewhere. */
export function writeCounter(family: Family, samples: readonly MetricSample[] | number): readonly string[] {
  return writeFamily("counter", family, samples);
}

function writeFamily(
  type: "counter" | "gauge",
  family: Family,
  samples: readonly MetricSample[] | number,
): readonly string[] {
  const { name, labels = [] } = family;
  const all: readonly MetricSample[] = typeof samples === "number" ? [[[], samples]] : samples;
  const lines = all.map(([values, value]) => `${name}${labelText(labels, values)} ${value}`);
  return [...familyHead(type, family), ...lines];
}

function familyHead(type: "counter" | "gauge" | "histogram", { name, help }: Family): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function labelText(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return "";
  return `{${names.map((name, at) => `${name}="${escape(values[at] ?? "")}"`).join(",")}}`;
}

function escape(value: string): string {
  return value.replaceAll("\\", String.raw`\\`).replaceAll('"', String.raw`\"`);
}

/** Reads at most once in `ms` milliseconds; callers share a read in progress. Failures aren't cached. */
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
