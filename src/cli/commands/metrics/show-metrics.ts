import { KEY_ACCESS_HEADER } from "../../../contract/key-access.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { type Coverage, markPeriod } from "../../../insight/coverage.ts";
import type { PeriodUnit } from "../../../runtime/calendar/periods.ts";
import { unixSeconds } from "../../../runtime/clock.ts";
import type { Deps } from "../../kit/deps.ts";
import { writeNote } from "../../kit/notes.ts";
import type { TimeFilter } from "../../kit/time-flags.ts";
import { AssertionError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { Resource } from "../../render/columns.ts";
import { chooseFormat, writeList } from "../../render/list-output.ts";
import { asRecord, checkColumns, writeRecord } from "../../render/record-output.ts";
import { comparedRange, coverageOf, listPeriods } from "../shared/ranges.ts";
import { type Assertion, checkAssertionFields, failedAssertions } from "./assertions.ts";
import { metricsResource, PERIOD_COLUMNS, withSentFields } from "./metrics-resource.ts";
import { drawPeriods, wantsPictures } from "./pictures.ts";
import {
  type MetricsAnswer,
  type MetricsFilters,
  readMetrics,
  readPeriods,
  withoutFalseScore,
  withStatistics,
} from "./read-metrics.ts";

export interface MetricsRequest extends MetricsFilters {
  readonly range: TimeFilter;
  readonly by: PeriodUnit | null;
  readonly compare: boolean;
  readonly assertions: readonly Assertion[];
  readonly raw: boolean;
  readonly isChart: boolean;
}

export async function showMetrics(deps: Deps, request: MetricsRequest): Promise<void> {
  const { groups, by, compare, assertions, raw } = request;
  const open = groups?.some((group) => group !== "core") ?? false;
  const core = groups?.includes("core") ?? true;
  const shape = { byPeriod: by !== null, compared: compare, core, open };
  const resource = metricsResource(shape);
  const shown = metricsResource({ ...shape, core: true }).columns.filter((column) => !PERIOD_COLUMNS.includes(column));
  checkAssertionFields(
    assertions,
    open,
    shown.map(({ name }) => name),
  );
  if (raw) checkRaw(deps);
  checkColumns(deps, resource);
  const rows =
    by === null ? [await showOne(deps, request, resource, core)] : await showPeriods(deps, request, resource, by);
  const failures = rows.flatMap((row) => failedAssertions(assertions, row));
  if (failures.length > 0) throw new AssertionError(failures);
}

function checkRaw({ options }: Deps): void {
  if (options.output !== null && options.output !== "json")
    throw new UsageError(`--raw is JSON as the service sent it, which -o ${options.output} is not`);
}

async function showOne(deps: Deps, request: MetricsRequest, resource: Resource, core: boolean): Promise<JsonObject> {
  const { range, trend, compare, confidence, choice, raw } = request;
  const before = compare ? comparedRange(deps, range) : null;
  const answers = await readMetrics(deps, request, before === null ? [range] : [before, range]);
  const [sent = asRecord({}), sentBefore]: MetricsAnswer[] = answers.toReversed();
  const previous = sentBefore === undefined ? null : withoutFalseScore(sentBefore);
  const metrics = withStatistics(withoutFalseScore(sent), previous, confidence);
  if (raw) {
    await writeRecord({ ...deps, options: { ...deps.options, output: "json" } }, resource, sent);
    return metrics;
  }
  if (!core || !wantsPictures(deps)) {
    await writeRecord(deps, await withIntervalText(deps, resource, metrics, confidence), asRecord(metrics));
    return metrics;
  }
  const { drawCard } = await import("./card.ts");
  // If no start is given, our own service counts all time; others may not.
  const isAllTime = choice !== null || sent.headers?.[KEY_ACCESS_HEADER] !== undefined;
  const compared = before === null || previous === null ? null : { metrics: previous, range: before };
  const chosen = choice?.words ?? null;
  await deps.streams.out.write(
    drawCard(deps, { metrics, range, isAllTime, trend, chosen, confidence, before: compared }),
  );
  await writeFurther(deps, resource, metrics);
  return metrics;
}

async function withIntervalText(
  deps: Deps,
  resource: Resource,
  metrics: JsonObject,
  confidence: number,
): Promise<Resource> {
  if (chooseFormat(deps) !== "table" || deps.options.columns !== null || typeof metrics["nps"] !== "number")
    return resource;
  const { intervalText } = await import("./card.ts");
  const addition = intervalText(deps.options, metrics, confidence);
  const columns = resource.columns.map((column) => (column.name === "nps" ? { ...column, addition } : column));
  return { ...resource, columns };
}

async function writeFurther(deps: Deps, resource: Resource, metrics: JsonObject): Promise<void> {
  const known = new Set(resource.columns.map(({ name }) => name));
  const further = Object.entries(metrics).filter(([name]) => !known.has(name) && !name.endsWith("_change"));
  if (further.length === 0) return;
  await deps.streams.out.write("\n");
  await writeRecord(deps, { ...resource, columns: [] }, asRecord(Object.fromEntries(further)));
}

async function showPeriods(
  deps: Deps,
  request: MetricsRequest,
  resource: Resource,
  unit: PeriodUnit,
): Promise<JsonObject[]> {
  const { range, compare, confidence, isChart } = request;
  const place = { ...range, now: unixSeconds(deps.clock), zone: deps.options.timeZone };
  const { before, periods } = listPeriods({ ...place, unit });
  const coverages = periods.map((period) => coverageOf(period, place));
  const rows = await readPeriods(deps, request, periods, compare ? before : null);
  if (isChart) {
    const { writePeriodChart } = await import("./chart-files.ts");
    await writePeriodChart(deps, rows, coverages);
    return rows;
  }
  const shown = wantsPictures(deps) ? rows.map((row, at) => markIncomplete(row, coverages[at])) : rows;
  await writeList(deps, { resource: withSentFields(resource, rows[0] ?? {}) }, shown);
  const compared = rows.filter(({ q }) => typeof q === "number").length;
  if (compared > 1)
    await writeNote(deps, `verdicts are corrected for ${compared} comparisons (Benjamini-Hochberg, by q)`);
  await drawPeriods(deps, rows, { coverages, confidence });
  return rows;
}

function markIncomplete(row: JsonObject, coverage: Coverage | undefined): JsonObject {
  const { period } = row;
  return typeof period !== "string" || coverage === undefined ? row : { ...row, period: markPeriod(period, coverage) };
}
