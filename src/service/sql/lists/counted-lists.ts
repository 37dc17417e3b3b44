/** These definitions control how counts of lists are updated, read and checked. */
import type { Channel } from "../../../contract/routes.ts";
import type { SqlRow, SqlValue } from "../sql-values.ts";
import { addCondition, type Where } from "./fragments.ts";

export type CountedTable = "people" | "responses" | "trend_responses" | "messages" | "webhook_deliveries";

export interface CountedList {
  readonly table: CountedTable;
  /** The name in `row_counts`. Each value of a `{column}` in the name makes a separate list. */
  readonly name: string;
  /** The time column: rows are counted per UTC day. Without it, the list has a single count. */
  readonly at?: string;
  /** A column that isn't null in the list's rows. */
  readonly needs?: string;
  /** A flag column; rows in which it is set aren't in the list. */
  readonly unless?: string;
  /** Also counts rows by the category of their score. */
  readonly isScored?: boolean;
}

export type ResponseTime = "created_at" | "updated_at";
export type EventColumn = "bounced_at" | "unsubscribed_at";

const RESPONSES = {
  created_at: { table: "responses", name: "responses created_at", at: "created_at", isScored: true },
  updated_at: { table: "responses", name: "responses updated_at", at: "updated_at", isScored: true },
} as const;
const TRENDS = {
  created_at: { table: "trend_responses", name: "trend {trend_id} created_at", at: "created_at", isScored: true },
  updated_at: { table: "trend_responses", name: "trend {trend_id} updated_at", at: "updated_at", isScored: true },
} as const;
const PEOPLE = { table: "people", name: "people", at: "created_at", unless: "removed" } as const;
const EVENTS = {
  bounced_at: { table: "people", name: "bounced_at", at: "bounced_at" },
  unsubscribed_at: { table: "people", name: "unsubscribed_at", at: "unsubscribed_at" },
} as const;
const SENT = { table: "messages", name: "sent {channel}", at: "sent_at" } as const;
const ANSWERED = { table: "messages", name: "answered {channel}", at: "sent_at", needs: "answered_at" } as const;
export const MESSAGE_STATES = { table: "messages", name: "messages {channel} {state}" } as const;
export const DELIVERY_STATES = { table: "webhook_deliveries", name: "webhook {webhook_id} {state}" } as const;

export const COUNTED_LISTS: readonly CountedList[] = [
  ...Object.values(RESPONSES),
  ...Object.values(TRENDS),
  PEOPLE,
  ...Object.values(EVENTS),
  SENT,
  ANSWERED,
  MESSAGE_STATES,
  DELIVERY_STATES,
];

const PLACEHOLDER = /\{(\w+)\}/g;

export function columnsInName({ name }: CountedList): readonly string[] {
  return [...name.matchAll(PLACEHOLDER)].map(([, column = ""]) => column);
}

export function fillName({ name }: CountedList, values: SqlRow): string {
  return name.replaceAll(PLACEHOLDER, (_, column: string) => String(values[column]));
}

export function countingColumns(list: CountedList): readonly string[] {
  const { at, needs, unless, isScored = false } = list;
  const conditions = [at, needs, unless].filter((column) => column !== undefined);
  return [...columnsInName(list), ...conditions, ...(isScored ? ["score", "survey_type"] : [])];
}

export interface OrderedList {
  readonly project: number;
  readonly name: string;
  readonly table: string;
  readonly where: Where;
  readonly key: readonly [at: string, id: string];
  /** The other time that can be filtered by; null if there is none. */
  readonly other: ResponseTime | null;
  readonly isScored: boolean;
}

function inProject(project: number, list: CountedList & { readonly at: string }, values: SqlRow = {}): OrderedList {
  const where: Where = { clauses: ["project_id = ?"], values: [project] };
  for (const [column, value] of Object.entries(values)) addCondition(where, `${column} = ?`, value);
  where.clauses.push(...membershipConditions(list));
  const { table, at, isScored = false } = list;
  const id = table === "trend_responses" ? "response_id" : "id";
  const other = isScored ? (at === "created_at" ? "updated_at" : "created_at") : null;
  return { project, name: fillName(list, values), table, where, key: [at, id], other, isScored };
}

export function membershipConditions({ at, needs, unless }: CountedList): readonly string[] {
  const present = [at, needs].filter((column) => column !== undefined);
  return [...present.map((column) => `${column} IS NOT NULL`), ...(unless === undefined ? [] : [`${unless} = 0`])];
}

/** Checks the same conditions as `membershipConditions`, but on a new row. */
export function isMember({ at, needs, unless }: CountedList, row: Readonly<Record<string, SqlValue>>): boolean {
  const isThere = (column: string | undefined): boolean => column === undefined || (row[column] ?? null) !== null;
  return isThere(at) && isThere(needs) && (unless === undefined || (row[unless] ?? 0) === 0);
}

export function responsesBy(project: number, trendId: number | null, time: ResponseTime): OrderedList {
  return trendId === null
    ? inProject(project, RESPONSES[time])
    : inProject(project, TRENDS[time], { trend_id: trendId });
}

export function peopleBy(project: number, column: EventColumn): OrderedList {
  return inProject(project, EVENTS[column]);
}

export function peopleIn(project: number): OrderedList {
  return inProject(project, PEOPLE);
}

export function requestsSent(project: number, channel: Channel | "reminder" | "sms-reminder"): OrderedList {
  return inProject(project, SENT, { channel });
}

export function requestsAnswered(project: number, channel: Channel): OrderedList {
  return inProject(project, ANSWERED, { channel });
}
