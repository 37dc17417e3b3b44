import { DAY_SECONDS } from "../../../runtime/zone.ts";
import { BLOCK_DAYS, WHOLE } from "./count-changes.ts";
import { COUNTED_LISTS, type CountedList, membershipConditions } from "./counted-lists.ts";
import { scoreSums } from "./score-sums.ts";

const COLUMNS = "project_id, span, list, number, n, promoters, passives, detractors";
const GROUP = "GROUP BY project_id, span, list, number";

function countList(list: CountedList, sign: "" | "-"): string {
  const { table, at } = list;
  const name = `concat('${list.name.replaceAll(/\{(\w+)\}/g, "', $1, '")}')`;
  const [span, number] = at === undefined ? [WHOLE, "0"] : [1, `${at} / ${DAY_SECONDS}`];
  const { promoters, passives, detractors } = scoreSums(list.isScored ?? false);
  const sums = ["count(*)", promoters, passives, detractors].map((sum) => `${sign}${sum}`).join(", ");
  const where = ["true", ...membershipConditions(list)].join(" AND ");
  return `SELECT project_id, ${span} AS span, ${name} AS list, ${number} AS number, ${sums} FROM ${table} WHERE ${where} ${GROUP}`;
}

function countBlocks(sign: "" | "-"): string {
  const sums = ["n", "promoters", "passives", "detractors"].map((column) => `${sign}sum(${column})`).join(", ");
  return `SELECT project_id, ${BLOCK_DAYS} AS span, list, number / ${BLOCK_DAYS} AS number, ${sums} FROM row_counts
    WHERE span = 1 GROUP BY project_id, list, number / ${BLOCK_DAYS}`;
}

export const COUNT_ALL: readonly string[] = [
  ...COUNTED_LISTS.map((list) => `INSERT INTO row_counts (${COLUMNS}) ${countList(list, "")}`),
  `INSERT INTO row_counts (${COLUMNS}) ${countBlocks("")}`,
];

/** Finds lists with wrong counts, as `project_id` and `list`. */
export const FIND_MISCOUNTED = `SELECT DISTINCT project_id, list FROM (
    SELECT project_id, list FROM (SELECT ${COLUMNS} FROM row_counts
      ${[...COUNTED_LISTS.map((list) => countList(list, "-")), countBlocks("-")].map((sql) => `UNION ALL ${sql}`).join(" ")}) AS counted
    ${GROUP} HAVING sum(n) <> 0 OR sum(promoters) <> 0 OR sum(passives) <> 0 OR sum(detractors) <> 0) AS wrong
  ORDER BY project_id, list`;
