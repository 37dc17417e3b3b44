import type { JsonObject } from "../../../contract/json.ts";
import type { CallOptions, Client, Parameters } from "../../../client/client.ts";
import { PER_PAGE_MAX } from "../../../contract/limits.ts";
import { type Expansion, EXPANSIONS, ROUTES } from "../../../contract/routes.ts";
import type { ToShown } from "../../../insight/redact.ts";
import { parseEmail, parsePhone } from "../../args/people.ts";
import { parseChoices, parseName } from "../../args/values.ts";
import { type Deps, withClient } from "../../kit/deps.ts";
import { createProgress } from "../../kit/progress.ts";
import { noTrend, withRefusals } from "../../kit/refusals.ts";
import { watchProperties } from "../../kit/rows/watch-properties.ts";
import { readRange, type TimeFilter, timeRange } from "../../kit/time-flags.ts";
import { type FlagGroup, flagGroup, type GroupValue } from "../../kit/flag-spec.ts";
import type { Resource } from "../../render/columns.ts";
import { chooseFormat } from "../../render/list-output.ts";
import { RESPONSES } from "../../render/resources.ts";
import { idOfPerson, requirePerson } from "../shared/find-person.ts";
import { createPageFilter, ROW_FILTERS, type RowFilters, TREND } from "../shared/row-filters.ts";
import { createShaping, type Shaping } from "./shaping.ts";

export const PERSON_FILTER = flagGroup({
  personId: { value: "id", text: "only responses of one person", conflicts: ["--phone"], parse: parseName },
  email: { value: "email", text: "only responses of one person", conflicts: ["--phone"], parse: parseEmail },
  /** The API can't filter by phone number, so the person is looked up first. */
  phone: { value: "phone", text: "only responses of one person, looked up by number (E.164)", parse: parsePhone },
});

export type PersonFilter = GroupValue<typeof PERSON_FILTER>;

export const REDACT = {
  text: "replace personal data with marks such as [email-1]; names of third parties stay",
} as const;

const UPDATED: FlagGroup<TimeFilter> = {
  records: [
    { flag: "--updated-since", value: "time", text: "updated at or after" },
    { flag: "--updated-until", value: "time", text: "updated at or before" },
  ],
  read: (flags, deps) => readRange(deps, flags, { since: "--updated-since", until: "--updated-until" }),
};

const FILTERS = {
  created: timeRange("created"),
  updated: UPDATED,
  trend: TREND,
  person: PERSON_FILTER,
  rows: ROW_FILTERS,
};

export const RESPONSE_FILTERS = flagGroup(FILTERS);

export const SELECTION = flagGroup({ ...FILTERS, redact: REDACT });

export type Selection = GroupValue<typeof SELECTION>;

export function expandFlag(otherwise: string): FlagGroup<readonly Expansion[] | null> {
  const text = "related objects to embed";
  return {
    records: [{ flag: "--expand", value: "objects", text, choices: EXPANSIONS, otherwise, repeatable: true }],
    read(flags) {
      const expand = parseChoices(flags.all("--expand"), "--expand", EXPANSIONS);
      return expand.length === 0 ? null : expand;
    },
  };
}

export const EXPAND = expandFlag("what the columns need; JSON has the person's email only with --expand person");

/**
 * Text columns need the expanded person. Expanding only `person` would turn off the notes (4.3). Null keeps the JSON as
 * the service sends it.
 */
export function neededExpansions(deps: Deps): readonly Expansion[] | null {
  const format = chooseFormat(deps);
  const names =
    deps.options.columns ?? (format === "json" || format === "ndjson" ? [] : RESPONSES.columns.map(({ name }) => name));
  return names.some((name) => /^person_(?:email|name)$|^person\./.test(name)) ? ["person", "notes"] : null;
}

/** Excludes the creation time filter, which an export sets for each page. */
export function toFilterParameters({ updated, trend, person }: Selection): Parameters {
  return {
    updated_since: updated.since,
    updated_until: updated.until,
    trend,
    person_id: person.personId,
    person_email: person.email,
  };
}

/** True if the metrics count exactly these responses. They can be filtered only by creation time and trend (4.7). */
export function isCountable({ updated, person }: Selection): boolean {
  return [...Object.values(updated), ...Object.values(person)].every((filter) => filter === null);
}

export function isSelecting(selection: Selection): boolean {
  const { created, trend, rows } = selection;
  const isInTrend = trend !== null || created.since !== null || created.until !== null;
  return isInTrend || !isCountable(selection) || createPageFilter(rows) !== null;
}

/** Sent as the start if none is given, because some services would otherwise count only the last month. */
const FIRST_SECOND = 1;

export async function countResponses(
  client: Client,
  { since, until }: TimeFilter,
  trend: string | null,
  options: CallOptions,
): Promise<number | null> {
  const { json } = await client.getMetrics({ since: since ?? FIRST_SECOND, until, trend }, options);
  return typeof json["response_count"] === "number" ? json["response_count"] : null;
}

/** Metrics count only NPS responses (4.7). Old responses have no type. */
export function isCounted({ survey_type: type = null }: JsonObject): boolean {
  return type === null || type === "nps";
}

export function withSearch({ search }: RowFilters): Resource {
  if (search === null) return RESPONSES;
  const columns = RESPONSES.columns.map((column) =>
    column.name === "comment" ? { ...column, spans: (text: string) => search.spans(text) } : column,
  );
  return { ...RESPONSES, columns };
}

export function forSelection(
  deps: Deps,
  { person, rows }: Pick<Selection, "person" | "rows">,
  segments: readonly string[] = [],
): Deps {
  const { phone } = person;
  const narrowed = phone === null ? deps : { ...deps, connect: () => connectForPhone(deps, phone) };
  return watchProperties(narrowed, "responses", { conditions: rows.properties, segments });
}

async function connectForPhone(deps: Deps, phone: string): ReturnType<Deps["connect"]> {
  const connection = await deps.connect();
  const { client } = connection;
  try {
    const found = await requirePerson(client, { phone_number: phone }, deps.signal);
    const own = { person_id: idOfPerson(client, found) };
    const narrowed: Client = {
      ...client,
      listResponses: (parameters, options) => client.listResponses({ ...parameters, ...own }, options),
      page: (call) =>
        client.page(
          call.route === ROUTES.listResponses ? { ...call, parameters: { ...call.parameters, ...own } } : call,
        ),
    };
    return { ...connection, client: narrowed };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

interface SelectedRows {
  readonly take: (row: JsonObject) => void;
  readonly toShown?: ToShown;
  readonly segments?: readonly string[];
}

/** Callers must call `writeNotes` of the returned shaping after their output. */
export async function readSelected(
  deps: Deps,
  selection: Selection,
  { take, toShown, segments = [] }: SelectedRows,
): Promise<Shaping> {
  const shaping = await createShaping(deps, selection, null, toShown);
  const parameters = {
    ...selection.created,
    ...toFilterParameters(selection),
    per_page: PER_PAGE_MAX,
    expand: shaping.expand,
  };
  const progress = createProgress(deps, "responses");
  const reading = withClient(forSelection(deps, selection, segments), async (client) => {
    let count = 0;
    try {
      for await (const page of client.listResponses(parameters, { signal: deps.signal })) {
        count += page.rows.length;
        await progress.update(count);
        for (const row of shaping.page(page).rows) take(row);
      }
    } finally {
      await progress.end();
    }
  });
  await withRefusals(reading, noTrend(selection.trend));
  return shaping;
}
