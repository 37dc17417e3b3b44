/** Filters for people that the API doesn't have (4.1). Pages are filtered here, so they work with any service. */
import type { Page, Parameters } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { PERSON_EXPANSIONS } from "../../../contract/routes.ts";
import { keepRows, type RowPage } from "../../../contract/row-page.ts";
import { foldAccents } from "../../../insight/search.ts";
import { badValue, parseName } from "../../args/values.ts";
import type { Deps } from "../../kit/deps.ts";
import { PROPERTY_FILTER_FLAG, propertyTests } from "../../kit/rows/properties.ts";
import { timeOf } from "../../export/sources.ts";
import { parseEnd, parseStart } from "../../kit/time-flags.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import { flagGroup, type GroupValue } from "../../kit/flag-spec.ts";

type RowTest = (row: JsonObject) => boolean;

export const PERSON_FILTERS = flagGroup({
  name: {
    value: "text",
    text: "only names that contain this; case and accents are ignored",
    parse: parseNamePart,
  },
  domain: { value: "domain", text: "only addresses in this domain, such as example.com", parse: parseDomain },
  notSurveyedSince: {
    value: "time",
    text: "only people who were not surveyed since then, such as 90d",
    parse: timeTest(parseStart, (row, time) => sent(row) < time),
  },
  notRespondedSince: {
    value: "time",
    text: "only people who have not answered since then",
    parse: timeTest(parseStart, (row, time) => answered(row) < time),
  },
  unanswered: { text: "only people who have not answered their last survey" },
  scheduledBefore: {
    value: "time",
    text: "only people with a survey scheduled before then, such as +7d",
    parse: timeTest(parseStart, (row, time) => (scheduled(row) ?? Infinity) < time),
  },
  scheduledAfter: {
    value: "time",
    text: "only people with a survey scheduled after then",
    parse: timeTest(parseEnd, (row, time) => (scheduled(row) ?? -Infinity) > time),
  },
  properties: { ...PROPERTY_FILTER_FLAG, text: `${PROPERTY_FILTER_FLAG.text}; only if the service stores properties` },
});

export type PersonFilters = GroupValue<typeof PERSON_FILTERS>;

function fold(text: string): string {
  return foldAccents(text.trim()).toLowerCase();
}

function parseNamePart(text: string, place: string): RowTest {
  const part = fold(parseName(text, place));
  return ({ name }) => fold(textOf(name)).includes(part);
}

function parseDomain(text: string, place: string): RowTest {
  const domain = text.trim().replace(/^@/, "").toLowerCase();
  if (!/^[^\s@.]+(?:\.[^\s@.]+)*$/.test(domain)) throw badValue(place, text, "a domain such as example.com");
  return ({ email }) => textOf(email).toLowerCase().endsWith(`@${domain}`);
}

function timeTest(parse: typeof parseStart, test: (row: JsonObject, time: number) => boolean) {
  return (text: string, place: string, deps: Deps): RowTest => {
    const time = parse(text, place, deps);
    return (row) => test(row, time);
  };
}

export const WITH_PROPERTIES: Parameters = { expand: [...PERSON_EXPANSIONS] };

/** JSON has all fields unless `--columns` names some. `format` is null if no flag sets it. */
export function needsProperties(
  { options: { columns } }: Deps,
  { properties }: PersonFilters,
  format: string | null,
): boolean {
  if (properties.length > 0) return true;
  if (columns === null) return format === "json" || format === "ndjson";
  return columns.some((name) => /^properties(?:\.|$)/.test(name));
}

export function createPersonFilter(filters: PersonFilters): ((page: RowPage) => RowPage) | null {
  const { properties, unanswered, ...others } = filters;
  const tests: readonly RowTest[] = [
    ...Object.values(others).filter((test) => test !== null),
    ...(unanswered ? [(row: JsonObject) => answered(row) < sent(row)] : []),
    ...propertyTests(properties, "properties"),
  ];
  if (tests.length === 0) return null;
  return (page) => {
    const [first] = page.rows;
    if (properties.length > 0 && first !== undefined && !("properties" in first)) throw noStoredProperties();
    return keepRows(page, (row) => tests.every((test) => test(row)));
  };
}

const sent = (row: JsonObject): number => timeOf(row, "last_sent_at") ?? -Infinity;
const answered = (row: JsonObject): number => timeOf(row, "last_responded_at") ?? -Infinity;
const scheduled = (row: JsonObject): number | null => timeOf(row, "next_survey_scheduled_at");

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function noStoredProperties(): NothingFoundError {
  return new NothingFoundError(
    "this service keeps no properties of people",
    "surveyctl serve does; responses have the properties of their survey: surveyctl responses list --property",
  );
}

export async function* filterPages(
  pages: AsyncGenerator<Page>,
  filterPage: ((page: RowPage) => RowPage) | null,
): AsyncGenerator<Page> {
  for await (const page of pages) {
    const { rows, text } = filterPage === null ? page : filterPage(page);
    yield { ...page, rows, text };
  }
}
