import type { JsonObject } from "../../../contract/json.ts";
import type { Coverage } from "../../../insight/coverage.ts";
import { noScores } from "../../../insight/interval.ts";
import { standaloneChart } from "../../../insight/report/chart-file.ts";
import { BROAD, drawPeriodScores, drawSegments } from "../../../insight/report/charts.ts";
import type { SegmentRow } from "../../../insight/segments.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import type { Deps } from "../../kit/deps.ts";
import { countsOf } from "./statistics.ts";

export async function writePeriodChart(
  { streams }: Deps,
  rows: readonly JsonObject[],
  coverages: readonly Coverage[],
): Promise<void> {
  const periods = rows.map((row, at) => ({
    ...(coverages[at] ?? { isRunning: false, isCut: false }),
    label: typeof row["period"] === "string" ? row["period"] : "",
    counts: countsOf(row) ?? noScores(),
  }));
  if (rows.every(({ nps }) => typeof nps !== "number")) throw nothingToDraw();
  const words = {
    id: "periods",
    title: "NPS by period",
    description: "The score of each period as a point within its 95% interval, and the number of answers.",
  };
  await streams.out.write(standaloneChart(drawPeriodScores(periods, words, BROAD)));
}

export async function writeSegmentChart({ streams }: Deps, rows: readonly SegmentRow[]): Promise<void> {
  if (rows.length === 0) throw nothingToDraw();
  const words = {
    id: "segments",
    title: `NPS by ${[...new Set(rows.map(({ property }) => property))].join(", ")}`,
    description: "The score of each value as a point within its interval, highest first.",
  };
  await streams.out.write(standaloneChart(drawSegments(rows, words, BROAD)));
}

function nothingToDraw(): NothingFoundError {
  return new NothingFoundError("there are no scores to draw in this period");
}
