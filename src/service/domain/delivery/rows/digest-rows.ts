import { emailKey } from "../../../../contract/text/email.ts";
import type { DigestChange, DigestRow, DigestRows } from "../digest-rows.ts";
import type { Database, Session, SqlRow } from "../../../sql/database.ts";
import { deleteRows, sendRow, updateRows } from "../../../sql/lists/counted-rows.ts";
import { assign, selectList } from "../../../sql/columns.ts";
import { nextId } from "../../projects/project-rows.ts";
import { claimKey, THIS_CLAIM, WAITING_AGAIN } from "./claims.ts";

/** Columns that change, by their names in a row. */
const COLUMNS: Readonly<Record<keyof DigestChange, string>> = {
  weekday: "weekday",
  minute: "minute",
  zone: "zone",
  unsubscribedAt: "unsubscribed_at",
  allowPrivate: "allow_private",
};

const WEEKS = "messages m WHERE m.project_id = d.project_id AND m.digest_id = d.id";

/**
 * With its newest week `n`. While that waits for its time, the one before, `b`, tells how the digest is; after a bounce
 * the digest was added anew, so that one tells nothing.
 */
const DIGEST = `SELECT p.id AS "projectId", p.name AS "projectName", d.id, d.email, d.token,
  d.created_at AS "createdAt", ${selectList(COLUMNS, "d")},
  CASE WHEN n.state = 'scheduled' THEN coalesce(b.state, n.state) ELSE coalesce(n.state, 'scheduled') END AS state,
  CASE WHEN n.state = 'scheduled' AND b.id IS NOT NULL THEN b.reason ELSE n.reason END AS reason,
  CASE WHEN n.claimer IS NULL THEN n.due_at END AS "dueAt", coalesce(n.attempts, 0) AS attempts, n.claimer, (SELECT max(m.sent_at) FROM ${WEEKS}) AS "sentAt"
  FROM digests d JOIN projects p ON p.id = d.project_id
  LEFT JOIN messages n ON n.project_id = d.project_id AND n.id = (SELECT max(m.id) FROM ${WEEKS})
  LEFT JOIN messages b ON b.project_id = d.project_id AND b.id = (SELECT max(m.id) FROM ${WEEKS} AND m.id < n.id) AND b.state <> 'bounced'`;

export function createDigestRows(database: Database, session: Session): DigestRows {
  const find = async (where: string, ...values: (string | number)[]): Promise<DigestRow | null> => {
    const row = await database.first(`${DIGEST} WHERE ${where}`, values);
    return row === null ? null : toDigest(row);
  };
  const eraseMails: DigestRows["eraseMails"] = async (project, { id, token }) =>
    database.send(
      `INSERT INTO erased_surveys (token, project_id, request_id, channel) VALUES (?, ?, ?, 'email')
       ON CONFLICT DO NOTHING`,
      [token, project, id],
    );
  return {
    insert: async (project, { email, token, weekday, minute, zone, allowPrivate }) => {
      const id = await nextId(database, project);
      database.send(
        `INSERT INTO digests (project_id, id, email, email_key, token, weekday, minute, zone, created_at, allow_private)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [project, id, email, emailKey(email), token, weekday, minute, zone, session.now, Number(allowPrivate)],
      );
      return id;
    },
    list: async (project) => {
      const [where, values] = project === null ? ["", []] : [" WHERE d.project_id = ?", [project]];
      return (await database.all(`${DIGEST}${where} ORDER BY d.project_id, d.id`, values)).map(toDigest);
    },
    byId: (project, id) => find("d.project_id = ? AND d.id = ?", project, id),
    byToken: (token) => find("d.token = ?", token),
    change: async (project, id, change) => {
      const { sets, values } = assign(COLUMNS, change);
      database.send(`UPDATE digests SET ${sets} WHERE project_id = ? AND id = ?`, [...values, project, id]);
    },
    delete: async (project, id) => {
      const digest = await find("d.project_id = ? AND d.id = ?", project, id);
      if (digest !== null) await eraseMails(project, digest);
      await deleteRows(database, "digests", project, ["id = ?", id]);
    },
    ...createWeekRows(database, session),
    eraseMails,
  };
}

/** The weeks of digests, which are messages. */
function createWeekRows(
  database: Database,
  session: Session,
): Pick<DigestRows, "addWeek" | "dropWeek" | "setWeek" | "takeBack"> {
  return {
    addWeek: async (project, id, { dueAt, before }) => {
      await deleteRows(database, "messages", project, ["digest_id = ? AND created_at < ?", id, before]);
      sendRow(database, "messages", {
        project_id: project,
        id: await nextId(database, project),
        channel: "digest",
        digest_id: id,
        state: "scheduled",
        created_at: session.now,
        scheduled_at: dueAt,
        due_at: dueAt,
      });
    },
    dropWeek: async (project, id) => {
      const waiting = "digest_id = ? AND claimer IS NULL AND state IN ('scheduled', 'retrying', 'held')";
      await deleteRows(database, "messages", project, [waiting, id]);
    },
    setWeek: async (claim, at) => {
      database.send(`UPDATE messages SET scheduled_at = ? WHERE ${THIS_CLAIM}`, [at, ...claimKey(claim)]);
    },
    takeBack: async (project, dueAt) => {
      const set = [`state = ${WAITING_AGAIN}, claimer = NULL, due_at = ?`, dueAt] as const;
      const claimed = "project_id = ? AND channel = 'digest' AND state = 'claimed'";
      await updateRows(database, "messages", set, [claimed, project]);
    },
  };
}

function toDigest({ projectId, projectName, ...row }: SqlRow): DigestRow {
  return {
    ...(row as unknown as Omit<DigestRow, "project">),
    allowPrivate: row.allowPrivate === 1,
    project: { id: Number(projectId), name: String(projectName) },
  };
}
