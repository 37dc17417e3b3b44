import type { JsonSchemaType } from "@modelcontextprotocol/server";
import { PERIOD_UNITS } from "../../../runtime/calendar/periods.ts";

export type ToolArguments = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchemaType;
  readonly fault?: (given: ToolArguments) => string | null;
  readonly words: (given: ToolArguments) => readonly string[];
  /** True if no part of the output was written by customers. */
  readonly isOwnText?: boolean;
  /** True if the command prints text instead of JSON. */
  readonly isText?: boolean;
  /** Output is sorted oldest first, so if there are too many rows, the first ones are dropped. */
  readonly isOldestFirst?: boolean;
}

const ROWS_DEFAULT = 50;
export const ROWS_MAX = 200;

const TIME = "Unix seconds, 30d (ago), 2026-05-31, 2026-05 or 2026-Q1";
const since = { type: "string", description: `Answered at or after: ${TIME}` } as const;
const until = { type: "string", description: "Answered at or before; same forms" } as const;
const score = { type: "string", description: "Scores, as in 9, 0-6 or 0-6,9" } as const;
const limit = {
  type: "integer",
  minimum: 1,
  maximum: ROWS_MAX,
  description: `Rows; ${ROWS_DEFAULT} by default`,
} as const;

function schemaOf(properties: JsonSchemaType["properties"], required: string[] = []): JsonSchemaType {
  return { type: "object", properties: properties ?? {}, required, additionalProperties: false };
}

/** Joins with `=`, so that a value can't become a flag. */
function flags(given: ToolArguments, names: readonly string[]): string[] {
  return names.flatMap((name) => (given[name] === undefined ? [] : [`--${name}=${String(given[name])}`]));
}

export function rowLimitOf({ schema }: Tool, given: ToolArguments): number | null {
  return schema.properties !== undefined && "limit" in schema.properties ? rowsAskedFor(given) : null;
}

function rowsAskedFor({ limit: rows = ROWS_DEFAULT }: ToolArguments): number {
  return Number(rows);
}

/** Requests one extra row, which shows whether there are more. */
function limitFlag(given: ToolArguments): string {
  return `--limit=${rowsAskedFor(given) + 1}`;
}

/** Agents are bad at Unix seconds, so times are in ISO 8601. */
const ROWS = ["--json", "--time=iso", "--quiet"];

/** Expands the person, so that their name is redacted in comments. */
const LIST = ["responses", "list", ...ROWS, "--order=desc", "--expand=person"];

export const TOOLS: readonly Tool[] = [
  {
    name: "metrics",
    description: "Net Promoter Score with its 95% interval and counts; with `by`, one row per period.",
    schema: schemaOf({
      since,
      until,
      by: { type: "string", enum: [...PERIOD_UNITS], description: "One row for each" },
      trend: { type: "string", description: "Id of a trend" },
    }),
    words: (given) => ["metrics", ...ROWS, ...flags(given, ["since", "until", "by", "trend"])],
    isOwnText: true,
    isOldestFirst: true,
  },
  {
    name: "segments",
    description: "The score of each value of some properties, such as plan or region; values with ten answers or more.",
    schema: schemaOf(
      { properties: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 5 }, since, until },
      ["properties"],
    ),
    words: (given) => [
      "metrics",
      ...ROWS,
      `--segment=${[given.properties].flat().join(",")}`,
      ...flags(given, ["since", "until"]),
    ],
  },
  {
    name: "list_responses",
    description: "Responses, newest first: score, comment, properties, tags. Personal data is masked.",
    schema: schemaOf({ since, until, score, property: { type: "string", description: "As in plan=pro" }, limit }),
    words: (given) => [...LIST, limitFlag(given), ...flags(given, ["since", "until", "score", "property"])],
  },
  {
    name: "search_comments",
    description: "Responses whose comment matches a regular expression; case and accents make no difference.",
    schema: schemaOf({ pattern: { type: "string", minLength: 1 }, score, limit }, ["pattern"]),
    words: (given) => [...LIST, limitFlag(given), `--search=${String(given.pattern)}`, ...flags(given, ["score"])],
  },
  {
    name: "get_person",
    description: "One person by email address or phone number (+14155550101): when surveyed, answered, unsubscribed.",
    schema: schemaOf({ email: { type: "string" }, phone: { type: "string" } }),
    // Not in the schema, because clients refuse schemas with alternatives.
    fault: ({ email, phone }) =>
      (email === undefined) === (phone === undefined) ? "specify exactly one of email and phone" : null,
    words: ({ email, phone }) => ["people", "get", ...ROWS, "--", String(email ?? phone)],
  },
  {
    name: "summary",
    description: "A period in one text: the score, what changed, the newest comments. The last 7 days by default.",
    schema: schemaOf({ since, until }),
    words: (given) => ["digest", "--quiet", ...flags(given, ["since", "until"])],
    isText: true,
  },
];
