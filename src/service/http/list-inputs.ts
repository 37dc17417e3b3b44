/** Parameters of the lists (sections 4.1, 4.3, 4.5 to 4.8) as the rules want them; an InvalidError names all that is wrong. */
import { PAGE_DEFAULT, PER_PAGE_DEFAULT, PER_PAGE_MAX } from "../../contract/limits.ts";
import type { Platform } from "../../contract/resources.ts";
import { EXPANSIONS, METRIC_GROUPS, RESPONSE_ORDERS, type Expansion } from "../../contract/routes.ts";
import type {
  EventsQuery,
  MembersQuery,
  MetricGroup,
  MetricsQuery,
  PeopleQuery,
  ResponsesQuery,
} from "../domain/inputs.ts";
import type { Reader } from "./reader.ts";

const LAST_PAGE = Math.floor(Number.MAX_SAFE_INTEGER / PER_PAGE_MAX);

export function readPeopleQuery(reader: Reader): PeopleQuery {
  const query = {
    ...readRange(reader),
    email: reader.filter("email"),
    phoneNumber: reader.filter("phone_number"),
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
  // Field by field: spreading parts together would cost more than reading them.
  const query = {
    since: reader.timestamp("since"),
    until: reader.timestamp("until"),
    updatedSince: reader.timestamp("updated_since"),
    updatedUntil: reader.timestamp("updated_until"),
    trend: reader.id("trend"),
    personId: reader.filter("person_id"),
    personEmail: reader.filter("person_email"),
    order: reader.choice("order", RESPONSE_ORDERS) ?? "asc",
    expand: readExpansions(reader),
    page: readPage(reader),
    perPage: readPerPage(reader),
  };
  reader.finish();
  return query;
}

export function readEventsQuery(reader: Reader): EventsQuery {
  const query = { ...readRange(reader), page: readPage(reader), perPage: readPerPage(reader) };
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
    personId: reader.filter("person_id"),
    personEmail: reader.filter("person_email"),
    personPhoneNumber: reader.filter("person_phone_number"),
    ...readCursorPage(reader),
  };
  reader.finish();
  return query;
}

const DEFAULT_EXPANSIONS: ReadonlySet<Expansion> = new Set(["notes"]);

/** Unknown names are ignored; when none is left, notes are expanded, as the specification has it. */
export function readExpansions(reader: Reader): ReadonlySet<Expansion> {
  const given = reader.list("expand");
  const known = given.length === 0 ? [] : EXPANSIONS.filter((expansion) => given.includes(expansion));
  return known.length > 0 ? new Set(known) : DEFAULT_EXPANSIONS;
}

function readRange(reader: Reader): { since: number | null; until: number | null } {
  return { since: reader.timestamp("since"), until: reader.timestamp("until") };
}

function readPerPage(reader: Reader): number {
  return reader.limited("per_page", { min: 1, limit: PER_PAGE_MAX, fallback: PER_PAGE_DEFAULT });
}

/** Beyond the largest number a page has no place that can be named: it is empty all the same. */
function readPage(reader: Reader): number {
  return reader.limited("page", { min: 1, limit: LAST_PAGE, fallback: PAGE_DEFAULT });
}

function readCursorPage(reader: Reader): { perPage: number; after: string | null } {
  if (reader.has("page")) reader.complain("page", "is not known here: follow the Link header, or give its page_info");
  return { perPage: readPerPage(reader), after: reader.text("page_info") };
}
