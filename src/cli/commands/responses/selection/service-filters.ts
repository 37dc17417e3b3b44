/** The filters that the service knows (4.3). */
import type { JsonObject } from "../../../../contract/json.ts";
import type { CallOptions, Client, Parameters } from "../../../../client/client.ts";
import { type Expansion, EXPANSIONS } from "../../../../contract/routes.ts";
import type { FlagRecord } from "../../../args/flag-record.ts";
import type { Flags } from "../../../args/flags.ts";
import { parseEmail, parsePhone } from "../../../args/people.ts";
import { parseChoices, parseName } from "../../../args/values.ts";
import type { Deps } from "../../../command/deps.ts";
import { rangeFlags, readRange } from "../../../command/time-flags.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { chooseFormat } from "../../../render/list-output.ts";
import { RESPONSES } from "../../../render/resources.ts";

export interface ResponseFilters {
  /** Times are Unix seconds, inclusive; null is open. */
  readonly since: number | null;
  readonly until: number | null;
  readonly updatedSince: number | null;
  readonly updatedUntil: number | null;
  readonly trend: string | null;
  readonly personId: string | null;
  readonly personEmail: string | null;
  /** Not a filter of the API: `forPhone` follows it. */
  readonly personPhone: string | null;
  readonly expand: readonly Expansion[] | null;
}

export const PERSON_FLAGS: readonly FlagRecord[] = [
  { flag: "--person-id", value: "id", text: "only responses of one person" },
  { flag: "--email", value: "email", text: "only responses of one person" },
  { flag: "--phone", value: "phone", text: "only responses of one person, looked up by number (E.164)" },
];

/** All but `--expand`, whose default differs. */
export const FILTER_FLAGS: readonly FlagRecord[] = [
  ...rangeFlags("created"),
  { flag: "--updated-since", value: "time", text: "updated at or after" },
  { flag: "--updated-until", value: "time", text: "updated at or before" },
  { flag: "--trend", value: "id", text: "only responses of this trend" },
  ...PERSON_FLAGS,
];

export function expandFlag(otherwise: string): FlagRecord {
  const text = "related objects to embed";
  return { flag: "--expand", value: "objects", text, choices: EXPANSIONS, otherwise, repeatable: true };
}

export const EXPAND_DEFAULT = "what the columns need; JSON has the person's email only with --expand person";

export function readExpand(flags: Flags): readonly Expansion[] | null {
  const expand = parseChoices(flags.all("--expand"), "--expand", EXPANSIONS);
  return expand.length === 0 ? null : expand;
}

/**
 * Columns of text show the person's e-mail and name, which only come expanded; asking for `person` alone would
 * turn the notes off (4.3). JSON stays what the service sends by itself; null asks for nothing.
 */
export function neededExpansions(deps: Deps): readonly Expansion[] | null {
  const format = chooseFormat(deps);
  const names =
    deps.options.columns ?? (format === "json" || format === "ndjson" ? [] : RESPONSES.columns.map(({ name }) => name));
  return names.some((name) => /^person_(?:email|name)$|^person\./.test(name)) ? ["person", "notes"] : null;
}

export function readPersonFilter(flags: Flags): Pick<ResponseFilters, "personId" | "personEmail" | "personPhone"> {
  const personId = flags.parse("--person-id", parseName);
  const personEmail = flags.parse("--email", parseEmail);
  const personPhone = flags.parse("--phone", parsePhone);
  const other = personId === null ? (personEmail === null ? null : "--email") : "--person-id";
  if (personPhone !== null && other !== null) throw new UsageError(`${other} and --phone cannot be used together`);
  return { personId, personEmail, personPhone };
}

export function readFilters(deps: Deps, flags: Flags): ResponseFilters {
  const updated = readRange(deps, flags, { since: "--updated-since", until: "--updated-until" });
  return {
    ...readRange(deps, flags),
    updatedSince: updated.since,
    updatedUntil: updated.until,
    trend: flags.parse("--trend", parseName),
    ...readPersonFilter(flags),
    expand: readExpand(flags),
  };
}

/** As the list's parameters; without the creation time, which an export gives page by page. */
export function toFilterParameters({
  updatedSince,
  updatedUntil,
  trend,
  personId,
  personEmail,
}: ResponseFilters): Parameters {
  return {
    updated_since: updatedSince,
    updated_until: updatedUntil,
    trend,
    person_id: personId,
    person_email: personEmail,
  };
}

/** True when the metrics count the same responses: they know the time of creation and trends alone (4.7). */
export function isCountable(filters: ResponseFilters): boolean {
  const { updatedSince, updatedUntil, personId, personEmail, personPhone } = filters;
  return [updatedSince, updatedUntil, personId, personEmail, personPhone].every((filter) => filter === null);
}

/** Some services count only the last month when they are given no start. */
const FIRST_SECOND = 1;

export async function countResponses(
  client: Client,
  { since, until, trend }: Pick<ResponseFilters, "since" | "until" | "trend">,
  options: CallOptions,
): Promise<number | null> {
  const { json } = await client.getMetrics({ since: since ?? FIRST_SECOND, until, trend }, options);
  return typeof json["response_count"] === "number" ? json["response_count"] : null;
}

/** The service counts responses to NPS surveys alone (4.7); old ones have no type. */
export function isCounted({ survey_type: type = null }: JsonObject): boolean {
  return type === null || type === "nps";
}
