import type { JsonObject } from "../../contract/json.ts";
import { findUnusedRenames } from "../../service/history/columns.ts";
import type { LostPart } from "../../service/history/convert-rows.ts";
import type { ScoreOfMonth } from "../../service/history/tally.ts";
import type { Deps } from "../kit/deps.ts";
import { countOf } from "../../contract/text/whole-number.ts";
import { writeDone, writeNote } from "../kit/notes.ts";
import { UsageError } from "../errors/usage-error.ts";
import { pathColumn, type Resource } from "../render/columns.ts";
import { chooseFormat, writeList } from "../render/list-output.ts";
import { writeRecord } from "../render/record-output.ts";
import type { StoredCounts, StoredRows } from "./store-rows.ts";
import type { HistoryProblem, HistoryReading, HistorySurvey } from "./survey-sources.ts";

const EXPECTED = ["nps", "responses", "people"] as const;

export interface HistoryExpectation {
  readonly name: (typeof EXPECTED)[number];
  readonly value: number;
}

/** Parses `nps=51,responses=51,people=60`. Throws UsageError. */
export function parseExpectations(text: string, place: string): readonly HistoryExpectation[] {
  return text.split(",").map((part) => {
    const [, name = "", value = ""] = /^\s*([a-z]+)\s*=\s*(-?\d+)\s*$/.exec(part) ?? [];
    const known = EXPECTED.find((each) => each === name);
    if (known === undefined)
      throw new UsageError(
        `${place}: "${part}" is not one of ${EXPECTED.join(", ")} with a whole number, as in nps=51`,
      );
    return { name: known, value: Number(value) };
  });
}

export function failedExpectations(
  { tally }: HistorySurvey,
  expectations: readonly HistoryExpectation[],
): readonly string[] {
  const { nps, responses } = tally.total;
  const actual = { nps, responses, people: tally.people };
  return expectations.flatMap(({ name, value }) =>
    actual[name] === value
      ? []
      : [`${name}=${value} (${actual[name] === null ? "no responses" : `${name} is ${actual[name]}`})`],
  );
}

const STREAM_COLUMNS = ["read", "kept", "unchanged", "merged", "conflicts", "refused"] as const;

export const HISTORY_SUMMARY: Resource = {
  noun: "streams",
  columns: [pathColumn("stream"), ...STREAM_COLUMNS.map((name) => pathColumn(name, "number"))],
};

const MONTH_COLUMNS = ["responses", "promoters", "passives", "detractors"] as const;

const MONTHS: Resource = {
  noun: "months",
  columns: [pathColumn("month"), ...MONTH_COLUMNS.map((name) => pathColumn(name, "number")), pathColumn("nps", "nps")],
};

const PROBLEMS_SHOWN = 20;

export class HistoryProblems {
  readonly shown: HistoryProblem[] = [];
  count = 0;
  readonly #lines: string[] = [];

  add(problem: HistoryProblem): void {
    this.count += 1;
    if (this.shown.length < PROBLEMS_SHOWN) this.shown.push(problem);
    this.#lines.push(`${JSON.stringify(problem)}\n`);
  }

  takeLines(): string {
    return this.#lines.splice(0).join("");
  }
}

export async function writeMapping(deps: Deps, { sources }: HistorySurvey): Promise<void> {
  for (const { source, shape, columns } of sources) {
    if (shape === null) continue;
    const { stream, format } = shape;
    await writeDone(deps, `${source.name}: ${format} ${stream ?? "rows of several kinds"}`);
    if (stream === null) continue;
    for (const [column, target] of columns) {
      if (target.kind === "field") await writeDone(deps, `  ${column} -> ${target.field}`);
      if (target.kind === "property") await writeDone(deps, `  ${column} -> property ${target.key}`);
      if (target.kind === "answer") await writeDone(deps, `  ${column} -> answer to ${target.question}`);
    }
  }
}

const LOST: Readonly<Record<LostPart, string>> = {
  "note without a text": "notes are not kept: they are ids without a text",
  "long permalink": "the permalink is not kept: it is longer than 2,000 characters",
};

export async function writeHistorySummary(
  deps: Deps,
  survey: HistorySurvey,
  stored: StoredRows | null,
  problems: HistoryProblems,
  reading: HistoryReading,
): Promise<void> {
  const { tally, lost, sources } = survey;
  const storedStreams: ReadonlyMap<string, StoredCounts> | undefined = stored?.streams;
  const streams = [...tally.streams].map(([stream, counts]) => {
    const { read, merged, refused } = counts;
    const found = storedStreams?.get(stream);
    const kept = stored === null ? counts.newest : (found?.kept ?? (found === undefined ? counts.newest : 0));
    const { unchanged = 0, conflicts = 0 } = found ?? {};
    return { stream, read, kept, unchanged, merged, conflicts, refused: refused + (found?.refused ?? 0) };
  });
  await writeCounts(deps, streams, [...tally.months, tally.total], tally.people);
  for (const { file, line, outcome, reason } of problems.shown) {
    const text = `${file}:${line}: ${outcome === "conflict" ? "conflict: " : ""}${reason}`;
    await deps.streams.err.write(`${text}\n`);
  }
  const more = problems.count - problems.shown.length;
  if (more > 0) await deps.streams.err.write(`… and ${more} more (--report FILE lists all)\n`);
  const columns = sources.flatMap((each) => [...each.columns.keys()]);
  for (const header of findUnusedRenames(reading, columns))
    await writeNote(deps, `--map: no file has a column "${header}"`);
  for (const { source, shape } of sources) if (shape === null) await writeNote(deps, `${source.name} has no rows`);
  for (const { source, dropped } of sources)
    if (dropped.size > 0) await writeNote(deps, `${source.name}: columns not kept: ${wordsOfDropped(dropped)}`);
  for (const { source, otherKinds } of sources)
    if (otherKinds.size > 0) await writeNote(deps, `${source.name}: ${wordsOfOthers(otherKinds)}`);
  for (const [part, count] of lost) await writeNote(deps, `${countOf(count, "row")}: ${LOST[part]}`);
  const nameless = stored?.nameless ?? 0;
  if (nameless > 0)
    await writeNote(deps, `${countOf(nameless, "person has", "people have")} no email or phone number, only an id`);
  if (stored === null) await writeDone(deps, "Nothing was written.");
}

function wordsOfDropped(columns: ReadonlyMap<string, number>): string {
  return [...columns].map(([column, rows]) => `${column} (${countOf(rows, "row")})`).join(", ");
}

function wordsOfOthers(kinds: ReadonlyMap<string, number>): string {
  const count = [...kinds.values()].reduce((sum, each) => sum + each, 0);
  return `${countOf(count, "row of another kind", "rows of other kinds")} not kept: ${[...kinds.keys()].join(", ")}`;
}

async function writeCounts(
  deps: Deps,
  streams: readonly JsonObject[],
  months: readonly ScoreOfMonth[],
  people: number,
): Promise<void> {
  const format = chooseFormat(deps);
  if (format === "json" && deps.options.columns === null) {
    const total = months.at(-1);
    const value = { streams, months: months.slice(0, -1), people, nps: total?.nps, responses: total?.responses };
    const text = JSON.stringify(value);
    return writeRecord(deps, HISTORY_SUMMARY, { json: JSON.parse(text) as JsonObject, text });
  }
  await writeList(deps, { resource: HISTORY_SUMMARY }, streams);
  if (format === "csv" || format === "ndjson" || format === "json" || deps.options.columns !== null) return;
  await deps.streams.out.write("\n");
  await writeList(
    deps,
    { resource: MONTHS },
    months.map((each) => ({ ...each, month: each.month ?? "total" })),
  );
}
