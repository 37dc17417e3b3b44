/** Numbers of all projects, summed from list counts. */
import type { ProjectNumbers } from "../rows.ts";
import type { Database, SqlRow } from "../../sql/database.ts";
import { BLOCK_DAYS } from "../../sql/lists/count-changes.ts";
import {
  type OrderedList,
  peopleBy,
  peopleIn,
  requestsAnswered,
  requestsSent,
  responsesBy,
} from "../../sql/lists/counted-lists.ts";

/** Lists have the same names in every project. */
const ANY = 0;
const RESPONSES = responsesBy(ANY, null, "created_at");
const LISTS = {
  people: peopleIn(ANY),
  responses: RESPONSES,
  unsubscribed: peopleBy(ANY, "unsubscribed_at"),
} as const satisfies Record<string, OrderedList>;
const RECENT = {
  emailSent: requestsSent(ANY, "email"),
  emailAnswered: requestsAnswered(ANY, "email"),
  smsSent: requestsSent(ANY, "sms"),
  smsAnswered: requestsAnswered(ANY, "sms"),
} as const satisfies Record<string, OrderedList>;

const sum = (column: string, condition: string, name: string): string =>
  `coalesce(sum(t.${column}) FILTER (WHERE ${condition}), 0) AS "${name}"`;
const inList = ({ name }: OrderedList): string => `t.list = '${name}' AND t.span = ${BLOCK_DAYS}`;
const isRecent = ({ name }: OrderedList): string => `t.list = '${name}' AND t.span = 1`;

const SUMS = [
  ...Object.entries(LISTS).map(([name, list]) => sum("n", inList(list), name)),
  ...Object.entries(RECENT).map(([name, list]) => sum("n", isRecent(list), name)),
  ...["promoters", "passives", "detractors"].map((kind) => sum(kind, isRecent(RESPONSES), kind)),
];
const NAMES = [...Object.values(LISTS), ...Object.values(RECENT)].map(({ name }) => `'${name}'`).join(", ");
const NUMBERS = `SELECT p.name, ${SUMS.join(", ")}
  FROM projects p CROSS JOIN (SELECT CAST(? AS INTEGER) AS since) r
  LEFT JOIN row_counts t ON t.project_id = p.id AND t.list IN (${NAMES})
    AND (t.span = ${BLOCK_DAYS} OR (t.span = 1 AND t.number >= r.since))
  GROUP BY p.id, p.name ORDER BY p.id`;

/** `since` is in days since 1970 (UTC). */
export async function readProjectSums(database: Database, since: number): Promise<ProjectNumbers[]> {
  return (await database.all(NUMBERS, [since])).map(toNumbers);
}

function toNumbers({ name, ...sums }: SqlRow): ProjectNumbers {
  const of = (sumName: string): number => Number(sums[sumName]);
  return {
    name: String(name),
    people: of("people"),
    responses: of("responses"),
    unsubscribed: of("unsubscribed"),
    scores: { promoters: of("promoters"), passives: of("passives"), detractors: of("detractors") },
    surveys: {
      email: { sent: of("emailSent"), answered: of("emailAnswered") },
      sms: { sent: of("smsSent"), answered: of("smsAnswered") },
    },
  };
}
