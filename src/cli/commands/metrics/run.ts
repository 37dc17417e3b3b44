/** The service's metrics with what they are worth: one period as a card or a record, or one row a period. */
import { KEY_ACCESS_HEADER } from "../../../contract/key-access.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { type Coverage, markPeriod } from "../../../insight/coverage.ts";
import { unixSeconds } from "../../../runtime/clock.ts";
import type { PeriodUnit } from "../../../runtime/calendar/periods.ts";
import type { Deps } from "../../command/deps.ts";
import { writeNote } from "../../command/notes.ts";
import type { TimeFilter } from "../../command/time-flags.ts";
import { AssertionError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { Resource } from "../../render/columns.ts";
import { chooseFormat, openListOutput } from "../../render/list-output.ts";
import { checkColumns, type RecordValue, writeRecord } from "../../render/record-output.ts";
import { type Assertion, checkAssertionFields, failedAssertions } from "./assertions.ts";
import { metricsResource, PERIOD_COLUMNS, withSentFields } from "./metrics-resource.ts";
import { drawPeriods, wantsPictures } from "./pictures.ts";
import {
  comparedRange,
  coverageOf,
  createMetricsReader,
  listPeriods,
  type MetricsFilters,
  type MetricsAnswer,
  type MetricsReader,
  readPeriods,
  withoutFalseScore,
  withStatistics,
} from "./read-metrics.ts";

export interface MetricsOptions extends MetricsFilters, TimeFilter {
  readonly by: PeriodUnit | null;
  readonly compare: boolean;
  readonly assertions: readonly Assertion[];
  readonly raw: boolean;
}

/** Throws AssertionError, once everything is shown, when an `--assert` does not hold. */
export async function runMetrics(deps: Deps, options: MetricsOptions): Promise<ExitCode> {
  const open = options.groups?.some((group) => group !== "core") ?? false;
  const core = options.groups?.includes("core") ?? true;
  const shape = { byPeriod: options.by !== null, compared: options.compare, core, open };
  const resource = metricsResource(shape);
  const shown = metricsResource({ ...shape, core: true }).columns.filter((column) => !PERIOD_COLUMNS.includes(column));
  checkAssertionFields(
    options.assertions,
    open,
    shown.map(({ name }) => name),
  );
  if (options.raw) checkRaw(deps);
  checkColumns(deps, resource);
  const show = options.by === null ? prepareOne(deps, options, core) : preparePeriods(deps, options, options.by);
  const rows = await show.read(createMetricsReader(deps, options));
  await show.write(resource, rows);
  const failures = rows.flatMap(({ json }) => failedAssertions(options.assertions, json));
  if (failures.length > 0) throw new AssertionError(failures);
  return EXIT.done;
}

function checkRaw({ options }: Deps): void {
  if (options.columns !== null) throw new UsageError("--raw and --columns cannot be used together");
  if (options.output !== null && options.output !== "json")
    throw new UsageError(`--raw is JSON as the service sent it, which -o ${options.output} is not`);
}

interface Showing {
  readonly read: (read: MetricsReader) => Promise<RecordValue[]>;
  readonly write: (resource: Resource, rows: readonly RecordValue[]) => Promise<void>;
}

interface Sent {
  current: MetricsAnswer;
  previous: JsonObject;
}

function prepareOne(deps: Deps, options: MetricsOptions, core: boolean): Showing {
  const { since, until, trend, compare, confidence, raw } = options;
  const range = compare ? comparedRange(deps, { since, until }) : null;
  const sent: Sent = { current: asValue({}), previous: {} };
  return {
    async read(read) {
      const answers = await read([...(range === null ? [] : [range]), { since, until }]);
      const [reply = asValue({}), previous] = answers.toReversed();
      sent.current = reply;
      const current = withoutFalseScore(reply).json;
      if (previous === undefined) return [asValue(withStatistics(current, null, confidence))];
      sent.previous = withoutFalseScore(previous).json;
      return [asValue(withStatistics(current, sent.previous, confidence))];
    },
    async write(resource, [value]) {
      if (value === undefined) return;
      if (raw) return writeRecord({ ...deps, options: { ...deps.options, output: "json" } }, resource, sent.current);
      if (!core || !wantsPictures(deps))
        return writeRecord(deps, await withIntervalText(deps, resource, { json: value.json, confidence }), value);
      const { drawCard } = await import("./card.ts");
      const before = range === null ? null : { metrics: sent.previous, range };
      const chosen = options.choice?.words ?? null;
      // Our own service counts all time where no start is given.
      const isAllTime = options.choice !== null || sent.current.headers?.[KEY_ACCESS_HEADER] !== undefined;
      const facts = { metrics: value.json, range: { since, until }, isAllTime, trend, chosen, confidence, before };
      await deps.streams.out.write(drawCard(deps, facts));
      await writeFurther(deps, resource, value);
    },
  };
}

/** A table that is read elsewhere than on a terminal says how sure the score is, as the card does. */
async function withIntervalText(
  deps: Deps,
  resource: Resource,
  { json, confidence }: { readonly json: JsonObject; readonly confidence: number },
): Promise<Resource> {
  if (chooseFormat(deps) !== "table" || deps.options.columns !== null || typeof json["nps"] !== "number")
    return resource;
  const { intervalText } = await import("./card.ts");
  const addition = intervalText(deps.options, json, confidence);
  const columns = resource.columns.map((column) => (column.name === "nps" ? { ...column, addition } : column));
  return { ...resource, columns };
}

/** Fields of other groups, for which the card has no place. */
async function writeFurther(deps: Deps, resource: Resource, { json }: RecordValue): Promise<void> {
  const known = new Set(resource.columns.map(({ name }) => name));
  const further = Object.entries(json).filter(([name]) => !known.has(name) && !name.endsWith("_change"));
  if (further.length === 0) return;
  await deps.streams.out.write("\n");
  await writeRecord(deps, { ...resource, columns: [] }, asValue(Object.fromEntries(further)));
}

function preparePeriods(deps: Deps, options: MetricsOptions, unit: PeriodUnit): Showing {
  const { since, until, compare, confidence } = options;
  const now = unixSeconds(deps.clock);
  const range = { since, now, zone: deps.options.timeZone };
  const { before, periods } = listPeriods({ ...range, unit, until });
  const coverages = periods.map((period) => coverageOf(period, range));
  return {
    read: async (read) =>
      (await readPeriods(read, periods, { before: compare ? before : null, confidence })).map(asValue),
    async write(resource, rows) {
      const shown = wantsPictures(deps) ? rows.map((row, at) => markIncomplete(row, coverages[at])) : rows;
      const output = await openListOutput(deps, { resource: withSentFields(resource, rows[0]?.json ?? {}) });
      await output.write({ rows: shown.map(({ json }) => json), text: `[${shown.map(({ text }) => text).join(",")}]` });
      await output.end();
      const compared = rows.filter(({ json }) => typeof json["q"] === "number").length;
      if (compared > 1)
        await writeNote(deps, `verdicts are corrected for ${compared} comparisons (Benjamini-Hochberg, by q)`);
      const drawn = rows.map(({ json }) => json);
      await drawPeriods(deps, drawn, { coverages, confidence });
    },
  };
}

function markIncomplete({ json }: RecordValue, coverage: Coverage | undefined): RecordValue {
  const { period } = json;
  if (typeof period !== "string" || coverage === undefined) return asValue(json);
  return asValue({ ...json, period: markPeriod(period, coverage) });
}

function asValue(json: JsonObject): RecordValue {
  return { json, text: JSON.stringify(json) };
}
