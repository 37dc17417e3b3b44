import type { TimeRange } from "../../../domain/inputs.ts";
import type { ScoreCounts } from "../../../domain/ports.ts";
import type { Database } from "../engine/database.ts";
import { addCondition, addRange, whereSql, type Where } from "../sql/where.ts";

/** How many responses of each category lie in a range, from an index that holds the scores. */
export function countScores(
  database: Database,
  project: number,
  filter: TimeRange & { readonly trendId: number | null },
): ScoreCounts {
  const where: Where = { clauses: ["project_id = ?"], values: [project] };
  if (filter.trendId !== null) addCondition(where, "trend_id = ?", filter.trendId);
  addRange(where, "created_at", filter);
  const table = filter.trendId === null ? "responses" : "trend_responses";
  const row = database.first(
    `SELECT count(*) AS total, coalesce(sum(score >= 9), 0) AS promoters, coalesce(sum(score < 7), 0) AS detractors
     FROM ${table} WHERE ${whereSql(where)}`,
    where.values,
  );
  const [total, promoters, detractors] = [Number(row?.total), Number(row?.promoters), Number(row?.detractors)];
  return { promoters, detractors, passives: total - promoters - detractors };
}
