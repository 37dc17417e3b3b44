/** Counts of every list, kept in blocks (see `list-blocks.ts`). */

/** Rows in each block of a list that is counted for the first time: half of what a block may hold. */
const BLOCK_ROWS = 128;
/** `BEGINNING` of `list-blocks.ts`. */
const BEGINNING = Number.MIN_SAFE_INTEGER;

interface Source {
  /** SQL for the list's name. */
  readonly name: string;
  readonly table: string;
  readonly where: string;
  /** Columns that tell the table's lists apart. */
  readonly lists: string;
  readonly at: string;
  readonly id: string;
  readonly other: string;
  readonly isScored: boolean;
}

function fill({ name, table, where, lists, at, id, other, isScored }: Source): string {
  const score = isScored ? "score" : "NULL";
  return `INSERT INTO list_blocks (project_id, list, first_at, first_id, row_count, promoters, detractors, least_other, most_other)
    SELECT project_id, name,
      CASE place / ${BLOCK_ROWS} WHEN 0 THEN ${BEGINNING} ELSE min(CASE place % ${BLOCK_ROWS} WHEN 0 THEN at END) END,
      CASE place / ${BLOCK_ROWS} WHEN 0 THEN 0 ELSE min(CASE place % ${BLOCK_ROWS} WHEN 0 THEN id END) END,
      count(*), count(*) FILTER (WHERE score >= 9), count(*) FILTER (WHERE score < 7), min(other), max(other)
    FROM (SELECT project_id, ${name} AS name, ${at} AS at, ${id} AS id, ${other} AS other, ${score} AS score,
        row_number() OVER (PARTITION BY ${lists} ORDER BY ${at}, ${id}) - 1 AS place
      FROM ${table} WHERE ${where})
    GROUP BY project_id, name, place / ${BLOCK_ROWS}`;
}

const RESPONSES = { table: "responses", where: "true", lists: "project_id", id: "id", isScored: true };
const IN_TRENDS = {
  table: "trend_responses",
  where:
    "NOT EXISTS (SELECT 1 FROM trends t WHERE t.project_id = trend_responses.project_id AND t.id = trend_id AND t.state = 'removed')",
  lists: "project_id, trend_id",
  id: "response_id",
  isScored: true,
};
const PEOPLE = { table: "people", lists: "project_id", id: "id", other: "0", isScored: false };
const SENT = {
  name: "concat('sent ', channel)",
  table: "survey_requests",
  where: "sent_at IS NOT NULL",
  lists: "project_id, channel",
  at: "sent_at",
  id: "id",
  other: "0",
  isScored: false,
};

/** One that is ordered by a time; `other` is the column that filters may bound besides. */
function byTimes(source: Omit<Source, "name" | "at" | "other">, prefix: string): Source[] {
  const name = (at: string): string => `concat(${prefix}, ' ${at}')`;
  return [
    { ...source, name: name("created_at"), at: "created_at", other: "updated_at" },
    { ...source, name: name("updated_at"), at: "updated_at", other: "created_at" },
  ];
}

const LISTS: readonly Source[] = [
  ...byTimes(RESPONSES, "'responses'"),
  ...byTimes(IN_TRENDS, "'trend ', trend_id"),
  { ...PEOPLE, name: "'people'", where: "removed = 0", at: "created_at" },
  { ...PEOPLE, name: "'bounced_at'", where: "bounced_at IS NOT NULL", at: "bounced_at" },
  { ...PEOPLE, name: "'unsubscribed_at'", where: "unsubscribed_at IS NOT NULL", at: "unsubscribed_at" },
  SENT,
];

/** Makes all blocks of a store that has none, for stores that are filled without the rules. */
export const COUNT_LISTS: readonly string[] = LISTS.map(fill);

/** Names the lists whose blocks do not add up to the rows that they stand for, as `project_id` and `list`. */
export const FIND_MISCOUNTED_LISTS = `SELECT project_id, list FROM (
    SELECT project_id, list, row_count, promoters, detractors, unscored FROM list_blocks
    ${LISTS.map(uncount).join(" ")}) AS counted
  GROUP BY project_id, list HAVING sum(row_count) <> 0 OR sum(promoters) <> 0 OR sum(detractors) <> 0
    OR sum(unscored) <> 0`;

/** SQL that counts a list's rows by category; scores of other survey types than `nps` are in none. */
export function scoreSums(isScored: boolean): Readonly<Record<"promoters" | "detractors" | "unscored", string>> {
  const count = (condition: string): string => (isScored ? `count(*) FILTER (WHERE ${condition})` : "0");
  return {
    promoters: count("score >= 9 AND survey_type = 'nps'"),
    detractors: count("score < 7 AND survey_type = 'nps'"),
    unscored: count("survey_type <> 'nps'"),
  };
}

function uncount({ name, table, where, isScored }: Source): string {
  const { promoters, detractors, unscored } = scoreSums(isScored);
  return `UNION ALL SELECT project_id, ${name} AS list, -count(*), -${promoters}, -${detractors}, -${unscored}
    FROM ${table} WHERE ${where} GROUP BY project_id, list`;
}
