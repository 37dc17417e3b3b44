import { emailKey } from "../../../../../contract/text/email.ts";
import type { DigestChange, DigestRow, DigestRows } from "../../../../domain/ports.ts";
import type { Database, Session, SqlRow } from "../../database.ts";
import { assign, selectList } from "../columns.ts";
import { nextId } from "../project-rows.ts";

/** Columns that change, by their names in a row. */
const COLUMNS: Readonly<Record<keyof DigestChange, string>> = {
  weekday: "weekday",
  minute: "minute",
  zone: "zone",
  unsubscribedAt: "unsubscribed_at",
  state: "state",
  dueAt: "due_at",
  periodAt: "period_at",
  sentAt: "sent_at",
  attempts: "attempts",
  reason: "reason",
  claimer: "claimer",
};

const DIGEST = `SELECT p.id AS "projectId", p.name AS "projectName", d.id, d.email, d.token,
  d.created_at AS "createdAt", ${selectList(COLUMNS, "d")}
  FROM digests d JOIN projects p ON p.id = d.project_id`;

export function createDigestRows(database: Database, session: Session): DigestRows {
  return {
    insert: async (project, { email, token, weekday, minute, zone, dueAt }) => {
      const id = await nextId(database, project);
      database.send(
        `INSERT INTO digests (project_id, id, email, email_key, token, weekday, minute, zone, created_at, state, due_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'scheduled', ?)`,
        [project, id, email, emailKey(email), token, weekday, minute, zone, session.now, dueAt],
      );
      return id;
    },
    list: async (project) => {
      const [where, values] = project === null ? ["", []] : [" WHERE d.project_id = ?", [project]];
      return (await database.all(`${DIGEST}${where} ORDER BY d.project_id, d.id`, values)).map(toDigest);
    },
    byToken: async (token) => {
      const row = await database.first(`${DIGEST} WHERE d.token = ?`, [token]);
      return row === null ? null : toDigest(row);
    },
    change: async (project, id, change) => {
      const { sets, values } = assign(COLUMNS, change);
      database.send(`UPDATE digests SET ${sets} WHERE project_id = ? AND id = ?`, [...values, project, id]);
    },
    delete: async (project, id) => {
      database.send(
        `INSERT INTO erased_surveys (token, project_id, request_id, channel)
         SELECT token, project_id, id, 'email' FROM digests WHERE project_id = ? AND id = ? AND period_at IS NOT NULL
         ON CONFLICT DO NOTHING`,
        [project, id],
      );
      database.send("DELETE FROM digests WHERE project_id = ? AND id = ?", [project, id]);
    },
    eraseMails: async ({ project, id, token }) => {
      database.send(
        `INSERT INTO erased_surveys (token, project_id, request_id, channel) VALUES (?, ?, ?, 'email')
         ON CONFLICT DO NOTHING`,
        [token, project.id, id],
      );
    },
  };
}

function toDigest({ projectId, projectName, ...row }: SqlRow): DigestRow {
  return {
    ...(row as unknown as Omit<DigestRow, "project">),
    project: { id: Number(projectId), name: String(projectName) },
  };
}
