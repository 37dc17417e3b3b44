import type { Command } from "commander";
import { METRIC_GROUPS } from "../../../contract/routes.ts";
import { PERIOD_UNITS, type PeriodUnit } from "../../args/calendar.ts";
import { parseChoice, parseChoices } from "../../args/values.ts";
import type { Flags } from "../../args/flags.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { rangeFlags, readRange } from "../../command/time-flags.ts";
import { METRICS } from "../../render/resources.ts";
import { type Assertion, checkAssertionFields, failedAssertions, parseAssertion } from "./assertions.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { unixSeconds } from "../../../runtime/clock.ts";
import { AssertionError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { Resource } from "../../render/columns.ts";
import { openListOutput } from "../../render/list-output.ts";
import { checkColumns, type RecordValue, writeRecord } from "../../render/record-output.ts";
import { noTrend, tellRefusals } from "../../command/refusals.ts";
import { CHANGES, metricsResource, withChanges, withSentFields } from "./metrics-resource.ts";
import {
  listPeriods,
  type MetricsFilters,
  type Reading,
  readPeriods,
  toParameters,
  withoutFalseScore,
} from "./read-metrics.ts";
import { drawTrend, RUNNING_MARK, wantsPictures } from "./pictures.ts";

export function register(noun: Command, context: CommandContext): void {
  context.describe(noun, {
    examples: [
      "surveyctl metrics --since 30d",
      "surveyctl metrics --by month --compare previous",
      "surveyctl metrics --since 7d --assert 'nps>=40' --quiet",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused, EXIT.assertion],
    flags: [
      ...rangeFlags("answered"),
      { flag: "--trend", value: "id", text: "only the responses of a trend" },
      {
        flag: "--group",
        value: "groups",
        text: "metric groups",
        repeatable: true,
        choices: METRIC_GROUPS,
        otherwise: "core",
      },
      {
        flag: "--by",
        value: "period",
        text: "one row per period",
        choices: PERIOD_UNITS,
        otherwise: "the last 12 or so",
      },
      { flag: "--compare", value: "what", text: "add the change from the period before", choices: ["previous"] },
      {
        flag: "--assert",
        value: "condition",
        text: "exit 6 unless it holds, as in 'nps>=40'",
        repeatable: true,
      },
    ],
    columns: METRICS,
  });
  context.action(noun, (deps, flags) => runMetrics(deps, readOptions(deps, flags)));
}

function readOptions(deps: Deps, flags: Flags): MetricsOptions {
  const groups = parseChoices(flags.all("--group"), "--group", METRIC_GROUPS);
  return {
    ...readRange(deps, flags),
    trend: flags.text("--trend"),
    groups: groups.length === 0 ? null : groups,
    by: flags.parse("--by", (text, place) => parseChoice(text, place, PERIOD_UNITS)),
    compare: flags.parse("--compare", (text, place) => parseChoice(text, place, ["previous"])) !== null,
    assertions: flags.all("--assert").map(parseAssertion),
  };
}

export interface MetricsOptions extends MetricsFilters {
  /** Unix seconds, inclusive; null is open. */
  readonly since: number | null;
  readonly until: number | null;
  readonly by: PeriodUnit | null;
  /** `--compare previous`. */
  readonly compare: boolean;
  readonly assertions: readonly Assertion[];
}

/** Throws AssertionError, once everything is shown, when an `--assert` does not hold. */
export async function runMetrics(deps: Deps, options: MetricsOptions): Promise<ExitCode> {
  const open = options.groups?.some((group) => group !== "core") ?? false;
  const core = options.groups?.includes("core") ?? true;
  const resource = metricsResource({ byPeriod: options.by !== null, compared: options.compare, core, open });
  checkAssertionFields(options.assertions, open, options.compare ? CHANGES : []);
  checkColumns(deps, resource);
  const show = options.by === null ? prepareOne(deps, options, core) : preparePeriods(deps, options, options.by);
  const rows = await withClient(deps, (client) =>
    tellRefusals(
      show.read({ client, filters: options, concurrency: deps.options.concurrency, signal: deps.signal }),
      noTrend(options.trend),
    ),
  );
  await show.write(resource, rows);
  const failures = rows.flatMap(({ json }) => failedAssertions(options.assertions, json));
  if (failures.length > 0) throw new AssertionError(failures);
  return EXIT.done;
}

/** Both shapes of `metrics`: what is read, all checks done, and how it is shown. */
interface Showing {
  readonly read: (reading: Reading) => Promise<RecordValue[]>;
  readonly write: (resource: Resource, rows: readonly RecordValue[]) => Promise<void>;
}

function prepareOne(deps: Deps, { since, until, trend, compare }: MetricsOptions, core: boolean): Showing {
  const range = compare ? periodBefore(since, until ?? unixSeconds(deps.clock)) : null;
  const state: { previous: JsonObject } = { previous: {} };
  return {
    async read({ client, filters, signal }) {
      const [reply, previous] = await Promise.all([
        client.getMetrics(toParameters(filters, since, until), { signal }),
        range === null ? null : client.getMetrics(toParameters(filters, range.since, range.until), { signal }),
      ]);
      const current = withoutFalseScore(reply);
      if (previous === null) return [current];
      state.previous = withoutFalseScore(previous).json;
      return [asValue(withChanges(current.json, state.previous))];
    },
    async write(resource, [value]) {
      if (value === undefined) return;
      if (!core || !wantsPictures(deps)) return writeRecord(deps, resource, value);
      const { drawCard } = await import("./card.ts");
      const before = range === null ? null : { metrics: state.previous, range };
      await deps.streams.out.write(drawCard(deps, { metrics: value.json, range: { since, until }, trend, before }));
      await writeFurther(deps, resource, value);
    },
  };
}

/** What the card has no place for: fields of other groups. */
async function writeFurther(deps: Deps, resource: Resource, { json }: RecordValue): Promise<void> {
  const known = new Set(resource.columns.map(({ name }) => name));
  const further = Object.entries(json).filter(([name]) => !known.has(name) && !name.endsWith("_change"));
  if (further.length === 0) return;
  await deps.streams.out.write("\n");
  await writeRecord(deps, { ...resource, columns: [] }, asValue(Object.fromEntries(further)));
}

function periodBefore(since: number | null, until: number): { since: number; until: number } {
  if (since === null) throw new UsageError("--compare previous requires --since or --by");
  return { since: since - (until - since + 1), until: since - 1 };
}

function preparePeriods(deps: Deps, { since, until, compare }: MetricsOptions, unit: PeriodUnit): Showing {
  const now = unixSeconds(deps.clock);
  const { before, periods } = listPeriods({ unit, since, until, now, zone: deps.options.timeZone });
  const last = periods.at(-1);
  const isRunning = last !== undefined && last.since <= now && now < last.until;
  return {
    read: async (reading) => (await readPeriods(reading, periods, compare ? before : null)).map(asValue),
    async write(resource, rows) {
      const shown =
        wantsPictures(deps) && isRunning ? [...rows.slice(0, -1), ...rows.slice(-1).map(markRunning)] : rows;
      const output = await openListOutput(deps, { resource: withSentFields(resource, rows[0]?.json ?? {}) });
      await output.write({ rows: shown.map(({ json }) => json), text: `[${shown.map(({ text }) => text).join(",")}]` });
      await output.end();
      await drawTrend(
        deps,
        rows.map(({ json }) => json),
        isRunning,
      );
    },
  };
}

/** `2026-11*`: the last period is not over yet. */
function markRunning({ json }: RecordValue): RecordValue {
  const { period } = json;
  return typeof period === "string" ? asValue({ ...json, period: period + RUNNING_MARK }) : asValue(json);
}

function asValue(json: JsonObject): RecordValue {
  return { json, text: JSON.stringify(json) };
}
