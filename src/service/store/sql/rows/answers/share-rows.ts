import type { Properties } from "../../../../../contract/resources.ts";
import type { AnswerGroup, DayTally } from "../../../../domain/shares/day-tally.ts";
import type { DayRange, SharedDay, ShareRow, ShareRows } from "../../../../domain/shares/share-rows.ts";
import type { Database, Session, SqlRow } from "../../../../sql/database.ts";
import { responsesBy } from "../../../../sql/lists/counted-lists.ts";
import { listDays } from "../../../../sql/lists/list-counts.ts";
import { nextId } from "../project-rows.ts";

const SHARE = `SELECT p.id AS "projectId", p.name AS "projectName", s.id, s.name, s.token_hash AS "tokenHash",
  s.trend_id AS "trendId", s.segments, s.shows_comments AS "showsComments", s.created_at AS "createdAt", s.expires_at AS "expiresAt"
  FROM shares s JOIN projects p ON p.id = s.project_id`;

export function createShareRows(database: Database, session: Session): ShareRows {
  return {
    insert: async (project, { name, tokenHash, trendId, segments, showsComments, expiresAt }) => {
      const id = await nextId(database, project);
      database.send(
        `INSERT INTO shares (project_id, id, name, token_hash, trend_id, segments, shows_comments, created_at, expires_at)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [
          project,
          id,
          name,
          tokenHash,
          trendId,
          JSON.stringify(segments),
          showsComments ? 1 : 0,
          session.now,
          expiresAt,
        ],
      );
      return id;
    },
    list: async (project) =>
      (await database.all(`${SHARE} WHERE s.project_id = ? ORDER BY s.id`, [project])).map(toShare),
    delete: async (project, id) =>
      (await database.run("DELETE FROM shares WHERE project_id = ? AND id = ?", [project, id])) > 0,
    byTokenHash: async (hash) => {
      const row = await database.first(`${SHARE} WHERE s.token_hash = ?`, [hash]);
      return row === null ? null : toShare(row);
    },
    days: async (share, range) => readDays(database, share, range),
    answers: async (share, range) => groupAnswers(database, share, range),
    keepDay: async ({ project, id }, day, tally) => {
      database.send(
        `INSERT INTO share_days (project_id, day, share_id, tally) VALUES (?, ?, ?, ?)
          ON CONFLICT (project_id, day, share_id) DO UPDATE SET tally = excluded.tally`,
        [project.id, day, id, JSON.stringify(tally)],
      );
    },
  };
}

/** Forgets what pages keep of these days, before or after responses of theirs change. */
export function forgetDays(database: Database, project: number, days: Iterable<number>): void {
  for (const day of new Set(days))
    database.send("DELETE FROM share_days WHERE project_id = ? AND day = ?", [project, day]);
}

function toShare({ projectId, projectName, segments, showsComments, ...row }: SqlRow): ShareRow {
  return {
    ...(row as unknown as Omit<ShareRow, "project" | "segments" | "showsComments">),
    project: { id: Number(projectId), name: String(projectName) },
    segments: JSON.parse(String(segments)) as string[],
    showsComments: showsComments === 1,
  };
}

/** The days that have responses. */
async function readDays(
  database: Database,
  { project, id, trendId }: ShareRow,
  { first, last }: DayRange,
): Promise<readonly SharedDay[]> {
  const days = await listDays(database, responsesBy(project.id, trendId, "created_at"), { first: first ?? 0, last });
  const rows = await database.all(
    "SELECT day, tally FROM share_days WHERE project_id = ? AND share_id = ? AND day >= ? AND day <= ?",
    [project.id, id, first ?? 0, last],
  );
  const kept = new Map(rows.map(({ day, tally }) => [Number(day), JSON.parse(String(tally)) as DayTally]));
  return days.map(({ day, rowCount }) => ({ day, rowCount, tally: kept.get(day) ?? null }));
}

/** Equal properties are read once: in most projects they have few values. */
async function groupAnswers(
  database: Database,
  { project, trendId, segments }: ShareRow,
  { since, until }: Parameters<ShareRows["answers"]>[1],
): Promise<readonly AnswerGroup[]> {
  const inTrend = "JOIN trend_responses t ON t.project_id = r.project_id AND t.response_id = r.id AND t.trend_id = ?";
  const rows = await database.all(
    `SELECT r.score, ${segments.length === 0 ? "'{}'" : "r.person_properties"} AS properties, count(*) AS n,
        count(*) FILTER (WHERE r.comment IS NOT NULL AND trim(r.comment) <> '') AS commented
      FROM responses r ${trendId === null ? "" : inTrend}
      WHERE r.project_id = ? AND r.created_at >= ? AND r.created_at <= ? AND r.survey_type = 'nps' GROUP BY 1, 2`,
    [...(trendId === null ? [] : [trendId]), project.id, since, until],
  );
  return rows.map(({ score, properties, n, commented }) => ({
    score: Number(score),
    properties: JSON.parse(String(properties)) as Properties,
    count: Number(n),
    commented: Number(commented),
  }));
}
