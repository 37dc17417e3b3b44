import type { JsonObject } from "../../../contract/json.ts";
import {
  type ChangeSplit,
  explainChange,
  hasOverlaps,
  type SegmentRow,
  segmentRows,
  type SegmentTally,
} from "../../../insight/segments.ts";
import type { Deps } from "../../kit/deps.ts";
import { countOf } from "../../../contract/text/whole-number.ts";
import { writeNote } from "../../kit/notes.ts";
import type { TimeFilter } from "../../kit/time-flags.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { type Resource, toChange, toPoints, toResource } from "../../render/columns.ts";
import { chooseFormat, writeList } from "../../render/list-output.ts";
import { asRecord, checkColumns, writeRecord } from "../../render/record-output.ts";
import { comparedRange } from "../shared/ranges.ts";
import { readResponses, type ResponseChoice } from "../shared/read-responses.ts";
import { addPage, countPage, emptyCounts, namedTally, rethrowTooMany } from "../shared/segment-tally.ts";
import { segmentsResource, SPLIT } from "./metrics-resource.ts";
import { wantsPictures } from "./pictures.ts";

export interface SegmentsRequest {
  readonly properties: readonly string[];
  readonly range: TimeFilter;
  readonly trend: string | null;
  readonly choice: ResponseChoice | null;
  readonly compare: boolean;
  readonly confidence: number;
  readonly minN: number;
  readonly explain: boolean;
  readonly isChart: boolean;
}

const PARTS = toResource("segments", {
  value: "text",
  share_before: "share",
  share: "share",
  nps_before: "points",
  nps: "points",
  mix: "change",
  within: "change",
});

export async function showSegments(deps: Deps, request: SegmentsRequest): Promise<void> {
  const { properties, range, compare, explain } = request;
  if (compare && range.since === null) throw new UsageError("--compare previous requires --since");
  if (explain && !compare) throw new UsageError("--explain-change requires --compare");
  if (explain && properties.length > 1)
    throw new UsageError("--explain-change splits by one property; give --segment one name");
  const resource = explain ? SPLIT : segmentsResource(compare);
  checkColumns(deps, resource);
  const tally = await readTally(deps, request);
  if (explain) await writeSplit(deps, tally, properties[0] ?? "");
  else await writeRows(deps, resource, tally, request);
}

async function readTally(deps: Deps, request: SegmentsRequest): Promise<SegmentTally> {
  const { properties, range, trend, choice, compare } = request;
  const before = compare ? comparedRange(deps, range) : null;
  const counted = emptyCounts(properties);
  await readResponses(deps, {
    range: { since: before?.since ?? range.since, until: range.until },
    trend,
    choice,
    segments: properties,
    toBatch: (rows) => countPage(rows, properties, range.since ?? -Infinity),
    take: (page) => addPage(counted, page),
  }).catch(rethrowTooMany);
  return namedTally(counted);
}

async function writeRows(
  deps: Deps,
  resource: Resource,
  tally: SegmentTally,
  { confidence, minN, compare, isChart }: SegmentsRequest,
): Promise<void> {
  const { rows, hidden } = segmentRows(tally, { confidence, minN, compared: compare });
  if (isChart) {
    const { writeSegmentChart } = await import("./chart-files.ts");
    await writeSegmentChart(deps, withLabels(rows));
  } else {
    await writeList(deps, { resource }, rows.map(asJson));
    if (wantsPictures(deps)) await drawRows(deps, rows);
  }
  const values = countOf(hidden, "value");
  if (rows.length + hidden === 0) await writeNote(deps, "no responses in this period");
  if (hidden > 0) await writeNote(deps, `${values} with fewer than ${minN} answers not shown; --min-n sets the limit`);
}

function withLabels(rows: readonly SegmentRow[]): readonly SegmentRow[] {
  const isOne = new Set(rows.map(({ property }) => property)).size === 1;
  return isOne ? rows : rows.map((row) => ({ ...row, value: `${row.property}=${row.value}` }));
}

async function drawRows(deps: Deps, rows: readonly SegmentRow[]): Promise<void> {
  const points = withLabels(rows).map(({ value: label, n, nps, nps_low: low, nps_high: high }) => {
    return { label, n, nps, low, high };
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
  if (!isTable) return writeRecord(deps, SPLIT, asRecord(json));
  const segments = json.segments.map((part) => ({ ...part, value: part["value"] ?? `no ${property}` }));
  await writeList(deps, { resource: PARTS }, segments);
  await deps.streams.out.write(`\n${describeSplit(split)}\n`);
}

function describeSplit({ change, mix, within }: ChangeSplit): string {
  const parts = `mix ${toChange(mix)}, within ${toChange(within)}`;
  const isFlat = toPoints(Math.abs(change)) === "0.0" || change === 0;
  if (isFlat) return `The score did not change: ${parts}.`;
  return `The score ${change > 0 ? "rose" : "fell"} by ${toPoints(Math.abs(change))} points: ${parts}.`;
}

function asJson(row: object): JsonObject {
  return { ...row };
}
