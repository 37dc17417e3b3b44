/** `metrics --segment`: one row for each value of a property, and how much of a change is the mix of values. */
import { type PlainAnswer, plainAnswers } from "../../../contract/questions/additional-answers.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { type ShownTexts, nameOfChoice, countTexts, mergeTexts } from "../../../insight/answers/shown-texts.ts";
import {
  addAnswer,
  type ChangeSplit,
  createTally,
  explainChange,
  hasOverlaps,
  mergeTally,
  nameValues,
  segmentRows,
  type SegmentRow,
  type SegmentTally,
  TooManyValuesError,
} from "../../../insight/segments.ts";
import type { Deps } from "../../command/deps.ts";
import { countOf, writeNote } from "../../command/notes.ts";
import { propertyOf } from "../../command/rows/properties.ts";
import { ANSWERS } from "../../command/rows/watch-properties.ts";
import type { TimeFilter } from "../../command/time-flags.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { pathColumn, type Resource, toPoints } from "../../render/columns.ts";
import { chooseFormat, openListOutput } from "../../render/list-output.ts";
import { checkColumns, writeRecord } from "../../render/record-output.ts";
import type { ResponseChoice } from "./count-metrics.ts";
import { segmentsResource, SPLIT } from "./metrics-resource.ts";
import { wantsPictures } from "./pictures.ts";
import { comparedRange } from "./read-metrics.ts";
import { kindOf, readResponses, scoreOf } from "./read-responses.ts";

export interface SegmentsOptions extends TimeFilter {
  readonly properties: readonly string[];
  readonly trend: string | null;
  readonly choice: ResponseChoice | null;
  readonly compare: boolean;
  readonly confidence: number;
  readonly minN: number;
  readonly explain: boolean;
}

const PARTS: Resource = {
  noun: "segments",
  columns: [
    pathColumn("value"),
    pathColumn("n_before", "number"),
    pathColumn("n", "number"),
    pathColumn("share_before", "share"),
    pathColumn("share", "share"),
    pathColumn("nps_before", "points"),
    pathColumn("nps", "points"),
    pathColumn("mix", "change"),
    pathColumn("within", "change"),
  ],
  table: ["value", "share_before", "share", "nps_before", "nps", "mix", "within"],
  dropFirst: [],
  fields: [],
};

/** Throws UsageError for a property of too many values, NothingFoundError where no response has one of them. */
export async function runSegments(deps: Deps, options: SegmentsOptions): Promise<ExitCode> {
  const resource = options.explain ? SPLIT : segmentsResource(options.compare);
  checkColumns(deps, resource);
  const tally = await readTally(deps, options);
  if (options.explain) await writeSplit(deps, tally, options.properties[0] ?? "");
  else await writeRows(deps, resource, tally, options);
  return EXIT.done;
}

async function readTally(deps: Deps, options: SegmentsOptions): Promise<SegmentTally> {
  const { properties, since, until, trend, choice, compare } = options;
  const start = since ?? -Infinity;
  const before = compare ? comparedRange(deps, { since, until }) : null;
  const counted = createPageSums(properties);
  try {
    await readResponses(deps, {
      range: { since: before?.since ?? since, until },
      trend,
      filterPage: choice?.filterPage ?? null,
      properties: { conditions: choice?.conditions, segments: properties },
      toBatch: (rows) => tallyPage(rows, properties, start),
      take: counted.add,
    });
  } catch (error) {
    throw explainValues(error);
  }
  return counted.all();
}

/** A property of too many values in the words of its flag; any other error as it is. */
export function explainValues(error: unknown): unknown {
  if (!(error instanceof TooManyValuesError)) return error;
  return new UsageError(`--segment: ${error.message}`, {
    hint: "choose a property that groups people, such as plan or region",
    cause: error,
  });
}

export interface PageSums {
  /** Pages in the order of time. */
  readonly add: (page: PageCounts) => void;
  readonly all: () => SegmentTally;
}

export function createPageSums(properties: readonly string[]): PageSums {
  const [tally, texts] = [createTally(properties), new Map() as ShownTexts];
  return {
    add(page) {
      mergeTally(tally, page.tally);
      mergeTexts(texts, page.texts);
    },
    all: () => nameChoices(tally, texts),
  };
}

interface PageCounts {
  readonly tally: SegmentTally;
  readonly texts: ShownTexts;
}

/** `start`: the first second of what is compared with what was before. */
export function tallyPage(rows: readonly JsonObject[], properties: readonly string[], start: number): PageCounts {
  const tally = createTally(properties);
  const texts: ShownTexts = new Map();
  for (const row of rows) {
    const score = scoreOf(row);
    if (score === null) continue;
    const { created_at: at } = row;
    const side = typeof at === "number" && at < start ? "before" : "after";
    addAnswer(tally, { kind: kindOf(score), side }, (property) => {
      const value = propertyOf(row, "person_properties", property);
      const answer = value === null ? answerOf(row, property) : null;
      if (answer === null) return value;
      countTexts(texts, answer);
      return choicesOf(answer);
    });
  }
  return { tally, texts };
}

/** The answer to the question of `answers.ID`; null for any other name, and where it is not answered. */
function answerOf(row: JsonObject, name: string): PlainAnswer | null {
  if (!name.startsWith(ANSWERS)) return null;
  return plainAnswers(row).find(({ id }) => id === name.slice(ANSWERS.length)) ?? null;
}

/** Choices by their ids: their texts depend on the language. */
function choicesOf({ value }: PlainAnswer): readonly string[] {
  return typeof value === "object" ? [...new Set(value.map(({ id }) => id))] : [String(value)];
}

function nameChoices(tally: SegmentTally, texts: ShownTexts): SegmentTally {
  return nameValues(tally, (property, value) =>
    property.startsWith(ANSWERS) ? nameOfChoice(texts, property.slice(ANSWERS.length), value) : value,
  );
}

async function writeRows(
  deps: Deps,
  resource: Resource,
  tally: SegmentTally,
  { confidence, minN, compare }: SegmentsOptions,
): Promise<void> {
  const { rows, hidden } = segmentRows(tally, { confidence, minN, compared: compare });
  const output = await openListOutput(deps, { resource });
  await output.write({ rows: rows.map(asJson), text: JSON.stringify(rows) });
  await output.end();
  if (wantsPictures(deps)) await drawRows(deps, rows);
  const values = countOf(hidden, "value", "values");
  if (rows.length + hidden === 0) await writeNote(deps, "no responses in this period");
  if (hidden > 0) await writeNote(deps, `${values} with fewer than ${minN} answers not shown; --min-n sets the limit`);
}

async function drawRows(deps: Deps, rows: readonly SegmentRow[]): Promise<void> {
  const isOne = new Set(rows.map(({ property }) => property)).size === 1;
  const points = rows.map(({ property, value, n, nps, nps_low: low, nps_high: high }) => {
    return { label: isOne ? value : `${property}=${value}`, n, nps, low, high };
  });
  const { drawWhiskers } = await import("./plots.ts");
  const plot = drawWhiskers(deps, points);
  if (plot !== "") await deps.streams.out.write(`\n${plot}`);
}

async function writeSplit(deps: Deps, tally: SegmentTally, property: string): Promise<void> {
  if (hasOverlaps(tally, property))
    throw new UsageError(`--explain-change: a response can have several values of ${property}`, {
      hint: "only values that exclude each other split a change",
    });
  const split = explainChange(tally, property);
  if (split === null) throw new NothingFoundError("no change to explain: one of the two periods has no responses");
  const json = { ...split, segments: split.segments.map(asJson) };
  const isTable = chooseFormat(deps) === "table" && deps.options.columns === null;
  if (!isTable) return writeRecord(deps, SPLIT, { json, text: JSON.stringify(json) });
  const segments = json.segments.map((part) => ({ ...part, value: part["value"] ?? `no ${property}` }));
  const output = await openListOutput(deps, { resource: PARTS });
  await output.write({ rows: segments, text: JSON.stringify(segments) });
  await output.end();
  await deps.streams.out.write(`\n${describeSplit(split)}\n`);
}

/** `NPS fell by 16 points: mix -18, within +2.` */
function describeSplit({ change, mix, within }: ChangeSplit): string {
  const parts = `mix ${signed(mix)}, within ${signed(within)}`;
  const isFlat = toPoints(Math.abs(change)) === "0.0" || change === 0;
  if (isFlat) return `The score did not change: ${parts}.`;
  return `The score ${change > 0 ? "rose" : "fell"} by ${toPoints(Math.abs(change))} points: ${parts}.`;
}

function asJson(row: object): JsonObject {
  return { ...row };
}

function signed(value: number): string {
  return value > 0 ? `+${toPoints(value)}` : toPoints(value);
}
