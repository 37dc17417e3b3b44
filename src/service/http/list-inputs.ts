/** Parameters of the lists (sections 4.1, 4.3, 4.5 to 4.8) as the rules want them. */
import { PAGE_DEFAULT, PER_PAGE_DEFAULT, PER_PAGE_MAX } from "../../contract/limits.ts";
import type { Platform } from "../../contract/resources.ts";
import { EXPANSIONS, METRIC_GROUPS, RESPONSE_ORDERS } from "../../contract/routes.ts";
import type { EventsQuery, Expansion, MembersQuery, MetricGroup, MetricsQuery, PeopleQuery, ResponsesQuery } from "../domain/inputs.ts";
import type { Reader } from "./reader.ts";

export function readPeopleQuery(reader: Reader): PeopleQuery {
  const query = {
    ...readRange(reader),
    email: reader.email("email"),
    phoneNumber: reader.phone("phone_number"),
    ...readCursorPage(reader),
  };
  if (query.email !== null && query.phoneNumber !== null) {
    reader.complain("email", "can't be combined with phone_number");
    reader.complain("phone_number", "can't be combined with email");
  }
  reader.finish();
  return query;
}

export function readResponsesQuery(reader: Reader): ResponsesQuery {
  const query = {
    ...readRange(reader),
    updatedSince: reader.timestamp("updated_since"),
    updatedUntil: reader.timestamp("updated_until"),
    trend: reader.id("trend"),
    personId: reader.id("person_id"),
    personEmail: reader.email("person_email"),
    order: reader.choice("order", RESPONSE_ORDERS) ?? "asc",
    expand: readExpansions(reader),
    ...readNumberedPage(reader),
  };
  reader.finish();
  return query;
}

export function readEventsQuery(reader: Reader): EventsQuery {
  const query = { ...readRange(reader), ...readNumberedPage(reader) };
  reader.finish();
  return query;
}

export function readMetricsQuery(reader: Reader): MetricsQuery {
  const groups = reader.list("groups");
  const unknown = groups.filter((group) => !isMetricGroup(group));
  if (unknown.length > 0) reader.complain("groups", `must be among ${METRIC_GROUPS.join(", ")}`);
  const query = { ...readRange(reader), trend: reader.id("trend"), groups: new Set(groups.filter(isMetricGroup)) };
  reader.finish();
  return query;
}

function isMetricGroup(text: string): text is MetricGroup {
  return (METRIC_GROUPS as readonly string[]).includes(text);
}

export function readMembersQuery(reader: Reader, platform: Platform): MembersQuery {
  const query = {
    platform,
    personId: reader.id("person_id"),
    personEmail: reader.email("person_email"),
    personPhoneNumber: reader.phone("person_phone_number"),
    ...readCursorPage(reader),
  };
  reader.finish();
  return query;
}

/** Unknown names are ignored; when none is left, notes are expanded, as the specification has it. */
export function readExpansions(reader: Reader): ReadonlySet<Expansion> {
  const given = reader.list("expand");
  const known = EXPANSIONS.filter((expansion) => given.includes(expansion));
  return new Set(known.length > 0 ? known : ["notes"]);
}

function readRange(reader: Reader): { since: number | null; until: number | null } {
  return { since: reader.timestamp("since"), until: reader.timestamp("until") };
}

function readPerPage(reader: Reader): number {
  return Math.min(reader.integer("per_page", { min: 1 }) ?? PER_PAGE_DEFAULT, PER_PAGE_MAX);
}

function readNumberedPage(reader: Reader): { page: number; perPage: number } {
  const perPage = readPerPage(reader);
  const page = reader.integer("page", { min: 1 }) ?? PAGE_DEFAULT;
  // Beyond this a page has no place that a number can name: it is empty all the same.
  return { perPage, page: Math.min(page, Math.floor(Number.MAX_SAFE_INTEGER / PER_PAGE_MAX)) };
}

function readCursorPage(reader: Reader): { perPage: number; after: string | null } {
  if (reader.has("page")) reader.complain("page", "is not known here: follow the Link header, or give its page_info");
  return { perPage: readPerPage(reader), after: reader.text("page_info") };
}
