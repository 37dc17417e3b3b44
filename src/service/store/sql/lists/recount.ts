/**
 * The tallies of every list, counted anew from the rows: to find wrong ones, and for stores filled without the rules.
 */
import { DAY_SECONDS } from "../../../../runtime/zone.ts";
import { scoreSums } from "./score-sums.ts";

interface Source {
  /** SQL for the list's name. */
  readonly name: string;
  readonly table: string;
  readonly where: string;
  readonly at: string;
  readonly isScored: boolean;
}

const IN_TRENDS = `NOT EXISTS (SELECT 1 FROM trends t WHERE t.project_id = trend_responses.project_id AND t.id = trend_id
  AND t.state = 'removed')`;

const LISTS: readonly Source[] = [
  ...["created_at", "updated_at"].flatMap((at): Source[] => [
    { name: `'responses ${at}'`, table: "responses", where: "true", at, isScored: true },
    { name: `concat('trend ', trend_id, ' ${at}')`, table: "trend_responses", where: IN_TRENDS, at, isScored: true },
  ]),
  { name: "'people'", table: "people", where: "removed = 0", at: "created_at", isScored: false },
  ...["bounced_at", "unsubscribed_at"].map((at): Source => ({
    name: `'${at}'`,
    table: "people",
    where: `${at} IS NOT NULL`,
    at,
    isScored: false,
  })),
  {
    name: "concat('sent ', channel)",
    table: "messages",
    where: "sent_at IS NOT NULL AND channel IN ('email', 'sms', 'reminder', 'sms-reminder')",
    at: "sent_at",
    isScored: false,
  },
  {
    name: "concat('answered ', channel)",
    table: "messages",
    where: "sent_at IS NOT NULL AND answered_at IS NOT NULL AND channel IN ('email', 'sms')",
    at: "sent_at",
    isScored: false,
  },
];

/** SQL that counts a list's rows by day. */
function tallySql({ name, table, where, at, isScored }: Source, sign: "" | "-"): string {
  const { promoters, passives, detractors } = scoreSums(isScored);
  const sums = ["count(*)", promoters, passives, detractors].map((sum) => `${sign}${sum}`).join(", ");
  return `SELECT project_id, ${name} AS list, ${at} / ${DAY_SECONDS} AS day, ${sums} FROM ${table} WHERE ${where}
    GROUP BY project_id, list, day`;
}

const COLUMNS = "project_id, list, day, row_count, promoters, passives, detractors";

/** Makes all tallies of a store that has none. */
export const TALLY_LISTS: readonly string[] = LISTS.map(
  (list) => `INSERT INTO list_tallies (${COLUMNS}) ${tallySql(list, "")}`,
);

/** Names the lists whose tallies do not add up to the rows that they stand for, as `project_id` and `list`. */
export const FIND_MISCOUNTED_LISTS = `SELECT DISTINCT project_id, list FROM (
    SELECT project_id, list, day FROM (SELECT ${COLUMNS} FROM list_tallies
      ${LISTS.map((list) => `UNION ALL ${tallySql(list, "-")}`).join(" ")}) AS counted
    GROUP BY project_id, list, day HAVING sum(row_count) <> 0 OR sum(promoters) <> 0 OR sum(passives) <> 0
      OR sum(detractors) <> 0) AS wrong`;
