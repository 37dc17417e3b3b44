import { BLOCK_DAYS } from "../../sql/lists/count-changes.ts";
import {
  type OrderedList,
  peopleBy,
  peopleIn,
  requestsAnswered,
  requestsSent,
  responsesBy,
} from "../../sql/lists/counted-lists.ts";

/** Any project id works here: only the names of the lists are used, and they are the same in all projects. */
const ANY = 0;
const RESPONSES = responsesBy(ANY, null, "created_at");
const LISTS = {
  people: peopleIn(ANY),
  responses: RESPONSES,
  unsubscribed: peopleBy(ANY, "unsubscribed_at"),
} as const satisfies Record<string, OrderedList>;
const RECENT = {
  "surveys.email.sent": requestsSent(ANY, "email"),
  "surveys.email.answered": requestsAnswered(ANY, "email"),
  "surveys.sms.sent": requestsSent(ANY, "sms"),
  "surveys.sms.answered": requestsAnswered(ANY, "sms"),
} as const satisfies Record<string, OrderedList>;

const sum = (column: string, condition: string, name: string): string =>
  `coalesce(sum(t.${column}) FILTER (WHERE ${condition}), 0) AS "${name}"`;
const inList = ({ name }: OrderedList): string => `t.list = '${name}' AND t.span = ${BLOCK_DAYS}`;
const isRecent = ({ name }: OrderedList): string => `t.list = '${name}' AND t.span = 1`;

const SUMS = [
  ...Object.entries(LISTS).map(([name, list]) => sum("n", inList(list), name)),
  ...Object.entries(RECENT).map(([name, list]) => sum("n", isRecent(list), name)),
  ...["promoters", "passives", "detractors"].map((kind) => sum(kind, isRecent(RESPONSES), `scores.${kind}`)),
];
const NAMES = [...Object.values(LISTS), ...Object.values(RECENT)].map(({ name }) => `'${name}'`).join(", ");
/** The parameter is the first day that counts as recent, in days since 1970 (UTC). */
export const NUMBERS = `SELECT p.name, ${SUMS.join(", ")}
  FROM projects p CROSS JOIN (SELECT CAST(? AS INTEGER) AS since) r
  LEFT JOIN row_counts t ON t.project_id = p.id AND t.list IN (${NAMES})
    AND (t.span = ${BLOCK_DAYS} OR (t.span = 1 AND t.number >= r.since))
  GROUP BY p.id, p.name ORDER BY p.id`;
