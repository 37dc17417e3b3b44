/** The rows of reports about surveys: reports that were seen, the surveys they are about, and soft refusals. */
import { emailKey } from "../../../../contract/text/email.ts";
import type { BounceEvidence, ReportedSurvey, ReportRows, SoftBouncer } from "../rows.ts";
import { type Database, textOrNull } from "../../../sql/database.ts";
import type { SqlRow } from "../../../sql/database.ts";
import type { Session } from "../../../sql/database.ts";
import { findDelivery } from "./delivery-rows.ts";

export function createReportRows(database: Database, session: Session): ReportRows {
  return {
    note: async (source, id) =>
      (await database.run("INSERT INTO delivery_reports (source, id, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", [
        source,
        id,
        session.now,
      ])) > 0,
    prune: async (before, limit) =>
      database.run(
        `DELETE FROM delivery_reports WHERE (source, id) IN
           (SELECT source, id FROM delivery_reports WHERE at < ? ORDER BY at LIMIT ?)`,
        [before, limit],
      ),
    byToken: async (token) => toReported(database, await database.first(`${KEY} WHERE bounce_token = ?`, [token])),
    byMessageId: async (messageId) =>
      toReported(database, await database.first(`${KEY} WHERE message_id = ?`, [messageId])),
    lastMailed: async (email, since) => toReported(database, await findLastMailed(database, email, since)),
    countSoft: async (project, personId, window) => (await softOf(database, project, personId, window))?.count ?? 0,
    listSoft: async (project, which) => listSoft(database, project, which),
    forgetSoft: async (project, personId) => {
      database.send(
        `UPDATE delivery_attempts SET outcome = 'failed' WHERE project_id = ? AND outcome = 'soft' AND request_id IN
           (SELECT id FROM messages WHERE project_id = ? AND person_id = ?)`,
        [project, project, personId],
      );
    },
    lastBounce: async (project, personId) => {
      const row = await database.first(
        `SELECT a.at, a.stage, a.code, a.enhanced_code AS "enhancedCode", a.text FROM messages q
         JOIN delivery_attempts a ON a.project_id = q.project_id AND a.request_id = q.id
         WHERE q.project_id = ? AND q.person_id = ? AND a.outcome = 'bounced' ORDER BY a.at DESC, a.n DESC LIMIT 1`,
        [project, personId],
      );
      return row as unknown as BounceEvidence | null;
    },
    bounceAddress: async () => {
      const row = await database.first("SELECT value FROM store_marks WHERE name = 'bounce address'");
      return textOrNull(row?.value);
    },
    setBounceAddress: async (address) => {
      database.send("DELETE FROM store_marks WHERE name = 'bounce address'");
      if (address !== null)
        database.send("INSERT INTO store_marks (name, value) VALUES ('bounce address', ?)", [address]);
    },
    secret: async (name) => {
      const row = await database.first("SELECT value FROM store_secrets WHERE name = ?", [`report ${name}`]);
      return textOrNull(row?.value);
    },
    setSecret: async (name, value) => {
      database.send("DELETE FROM store_secrets WHERE name = ?", [`report ${name}`]);
      if (value !== null)
        database.send("INSERT INTO store_secrets (name, value) VALUES (?, ?)", [`report ${name}`, value]);
    },
  };
}

/** A report about a reminder tells of its survey. */
const KEY = `SELECT project_id AS "projectId", CASE WHEN channel = 'reminder' THEN request_id ELSE id END AS id
  FROM messages`;

async function toReported(database: Database, key: SqlRow | null): Promise<ReportedSurvey | null> {
  if (key === null) return null;
  const [project, id] = [Number(key.projectId), Number(key.id)];
  const row = await findDelivery(database, project, id);
  const more = await database.first(
    `SELECT p.name, q.token, q.unsubscribe_token, q.bounce_token FROM messages q JOIN projects p ON p.id = q.project_id
     WHERE q.project_id = ? AND q.id = ?`,
    [project, id],
  );
  if (row === null || more === null) return null;
  const secrets = [more.token, more.unsubscribe_token, more.bounce_token].filter((one) => typeof one === "string");
  return { project: { id: project, name: String(more.name) }, row, secrets };
}

const MAILED_AT = "coalesce(q.sent_at, q.transmitting_at)";

/** Of the survey's reminder, which is the later message, or of the survey. */
const LAST_MAILED_AT = `coalesce(r.sent_at, r.transmitting_at, ${MAILED_AT})`;

async function findLastMailed(database: Database, email: string, since: number): Promise<SqlRow | null> {
  const found: SqlRow[] = [];
  for (const { id } of await database.all("SELECT id FROM projects ORDER BY id")) {
    const row = await database.first(
      `SELECT q.project_id AS "projectId", q.id, ${LAST_MAILED_AT} AS at FROM people w
       JOIN messages q ON q.project_id = w.project_id AND q.person_id = w.id
       LEFT JOIN messages r ON r.project_id = q.project_id AND r.request_id = q.id AND r.channel = 'reminder'
       WHERE w.project_id = ? AND w.email_key = ? AND q.channel = 'email' AND ${LAST_MAILED_AT} >= ?
       ORDER BY at DESC, q.id DESC LIMIT 1`,
      [id ?? null, emailKey(email), since],
    );
    if (row !== null) found.push(row);
  }
  return found.toSorted((left, right) => Number(right.at) - Number(left.at))[0] ?? null;
}

/**
 * Null for a person who refused nothing of late. `+` and `CROSS JOIN` keep the engine from walking all surveys and
 * attempts of the project.
 */
async function softOf(
  database: Database,
  project: number,
  personId: number,
  window: number,
): Promise<SoftBouncer | null> {
  const refused = await database.all(
    `SELECT last.id, a.at, a.text FROM (SELECT q.id FROM messages q JOIN people w ON w.project_id = q.project_id AND w.id = q.person_id
       WHERE q.project_id = ? AND q.person_id = ? AND q.channel = 'email' AND ${MAILED_AT} > coalesce(w.last_responded_at, 0)
       ORDER BY +q.id DESC LIMIT ?) AS last
     CROSS JOIN delivery_attempts a WHERE a.project_id = ? AND a.request_id = last.id AND a.outcome = 'soft'
     ORDER BY a.at DESC, last.id DESC, a.n DESC`,
    [project, personId, window, project],
  );
  const [newest] = refused;
  if (newest === undefined) return null;
  const person = await database.first("SELECT email FROM people WHERE project_id = ? AND id = ?", [project, personId]);
  return {
    personId,
    email: textOrNull(person?.email),
    count: new Set(refused.map(({ id }) => id)).size,
    lastAt: Number(newest.at),
    text: textOrNull(newest.text),
  };
}

/** From the few refusals to their surveys: `CROSS JOIN` keeps that order. */
async function listSoft(
  database: Database,
  project: number,
  { after, limit, window, least }: Parameters<ReportRows["listSoft"]>[1],
): Promise<SoftBouncer[]> {
  const people = await database.all(
    `SELECT DISTINCT q.person_id AS id FROM delivery_attempts a
     CROSS JOIN messages q JOIN people w ON w.project_id = q.project_id AND w.id = q.person_id
     WHERE q.project_id = a.project_id AND q.id = a.request_id AND a.project_id = ? AND a.outcome = 'soft' AND q.person_id > ? AND w.bounced_at IS NULL ORDER BY q.person_id`,
    [project, after],
  );
  const found: SoftBouncer[] = [];
  for (const { id } of people) {
    if (found.length === limit) break;
    const soft = await softOf(database, project, Number(id), window);
    if (soft !== null && soft.count >= least) found.push(soft);
  }
  return found;
}
