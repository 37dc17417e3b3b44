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

export const PERSON_FILTERS = flagGroup({
  name: {
    value: "text",
    text: "only names that contain this; case and accents are ignored",
    parse: (text: string, place: string) => fold(parseName(text, place)),
  },
  domain: { value: "domain", text: "only addresses in this domain, such as example.com", parse: parseDomain },
  notSurveyedSince: {
    value: "time",
    text: "only people who were not surveyed since then, such as 90d",
    parse: parseStart,
  },
  notRespondedSince: { value: "time", text: "only people who have not answered since then", parse: parseStart },
  unanswered: { text: "only people who have not answered their last survey" },
  scheduledBefore: {
    value: "time",
    text: "only people with a survey scheduled before then, such as +7d",
    parse: parseStart,
  },
  scheduledAfter: { value: "time", text: "only people with a survey scheduled after then", parse: parseEnd },
  properties: { ...PROPERTY_FILTER_FLAG, text: `${PROPERTY_FILTER_FLAG.text}; only if the service stores properties` },
});

export type PersonFilters = GroupValue<typeof PERSON_FILTERS>;

function fold(text: string): string {
  return foldAccents(text.trim()).toLowerCase();
}

function parseDomain(text: string, place: string): string {
  const domain = text.trim().replace(/^@/, "").toLowerCase();
  if (/^[^\s@.]+(?:\.[^\s@.]+)*$/.test(domain)) return domain;
  throw badValue(place, text, "a domain such as example.com");
}

export const WITH_PROPERTIES: Parameters = { expand: [...PERSON_EXPANSIONS] };

/** JSON has all fields unless some are chosen. A `format` of null is a table, or tab-separated values in a pipe. */
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
  const { name, domain, properties } = filters;
  const tests = [
    ...(name === null ? [] : [(row: JsonObject) => fold(textOf(row["name"])).includes(name)]),
    ...(domain === null ? [] : [(row: JsonObject) => textOf(row["email"]).toLowerCase().endsWith(`@${domain}`)]),
    ...timeTests(filters),
    ...propertyTests(properties, "properties"),
  ];
  if (tests.length === 0) return null;
  return (page) => {
    const [first] = page.rows;
    if (properties.length > 0 && first !== undefined && !("properties" in first)) throw noStoredProperties();
    return keepRows(page, (row) => tests.every((test) => test(row)));
  };
}

/** `-Infinity` if the person was never sent a survey. */
const sent = (row: JsonObject): number => timeOf(row, "last_sent_at") ?? -Infinity;
const answered = (row: JsonObject): number => timeOf(row, "last_responded_at") ?? -Infinity;
const scheduled = (row: JsonObject): number | null => timeOf(row, "next_survey_scheduled_at");

function timeTests(filters: PersonFilters): readonly ((row: JsonObject) => boolean)[] {
  const { notSurveyedSince, notRespondedSince, scheduledBefore, scheduledAfter, unanswered } = filters;
  return [
    ...(notSurveyedSince === null ? [] : [(row: JsonObject) => sent(row) < notSurveyedSince]),
    ...(notRespondedSince === null ? [] : [(row: JsonObject) => answered(row) < notRespondedSince]),
    ...(unanswered ? [(row: JsonObject) => answered(row) < sent(row)] : []),
    ...(scheduledBefore === null ? [] : [(row: JsonObject) => (scheduled(row) ?? Infinity) < scheduledBefore]),
    ...(scheduledAfter === null ? [] : [(row: JsonObject) => (scheduled(row) ?? -Infinity) > scheduledAfter]),
  ];
}

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
