import { Rows } from "../../../sql/rows.ts";
import { emailKey } from "../../../../contract/text/email.ts";
import type { BounceEvidence, ReportedSurvey, SoftBouncer } from "../rows.ts";
import type { Database, SqlRow } from "../../../sql/database.ts";
import { findDelivery } from "./delivery-rows.ts";

export class ReportRows extends Rows {
  async note(source: string, id: string): Promise<boolean> {
    return (
      (await this.database.run(
        "INSERT INTO delivery_reports (source, id, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [source, id, this.session.now],
      )) > 0
    );
  }

  /** Returns the number of reports. Fewer than `limit` means that none are left. */
  async prune(before: number, limit: number): Promise<number> {
    return this.database.run(
      `DELETE FROM delivery_reports WHERE (source, id) IN
           (SELECT source, id FROM delivery_reports WHERE at < ? ORDER BY at LIMIT ?)`,
      [before, limit],
    );
  }

  /** Finds the survey with this token in its envelope sender, in any project. */
  async byToken(token: string): Promise<ReportedSurvey | null> {
    return toReported(this.database, await this.database.first(`${KEY} WHERE bounce_token = ?`, [token]));
  }

  async byMessageId(messageId: string): Promise<ReportedSurvey | null> {
    return toReported(this.database, await this.database.first(`${KEY} WHERE message_id = ?`, [messageId]));
  }

  /** The newest survey or reminder mailed since `since` to the address's current owner, in any project. */
  async lastMailed(email: string, since: number): Promise<ReportedSurvey | null> {
    const found: SqlRow[] = [];
    for (const { id = null } of await this.database.all("SELECT id FROM projects ORDER BY id")) {
      const row = await this.database.first(LAST_MAILED, [id, emailKey(email), since]);
      if (row !== null) found.push(row);
    }
    const [newest = null] = found.toSorted((left, right) => Number(right.at) - Number(left.at));
    return toReported(this.database, newest);
  }

  /** Counts only surveys since the person last answered. */
  async countSoft(project: number, personId: number, window: number): Promise<number> {
    return (await this.#softOf(project, personId, window))?.count ?? 0;
  }

  async listSoft(
    project: number,
    which: { readonly after: number; readonly limit: number; readonly window: number; readonly least: number },
  ): Promise<readonly SoftBouncer[]> {
    const { after, limit, window, least } = which;
    const found: SoftBouncer[] = [];
    for (const { id } of await this.database.all(SOFT_BOUNCERS, [project, after])) {
      if (found.length === limit) break;
      const soft = await this.#softOf(project, Number(id), window);
      if (soft !== null && soft.count >= least) found.push(soft);
    }
    return found;
  }

  async #softOf(project: number, personId: number, window: number): Promise<SoftBouncer | null> {
    const refused = await this.database.all(SOFT, [project, personId, window, project]);
    const [newest] = refused;
    if (newest === undefined) return null;
    const { email, at, text } = newest as unknown as Pick<SoftBouncer, "email" | "text"> & { readonly at: number };
    return { personId, email, count: new Set(refused.map(({ id }) => id)).size, lastAt: at, text };
  }

  async forgetSoft(project: number, personId: number): Promise<void> {
    this.database.send(
      `UPDATE delivery_attempts SET outcome = 'failed' WHERE project_id = ? AND outcome = 'soft' AND request_id IN
           (SELECT id FROM messages WHERE project_id = ? AND person_id = ?)`,
      [project, project, personId],
    );
  }

  async lastBounce(project: number, personId: number): Promise<BounceEvidence | null> {
    const row = await this.database.first(
      `SELECT a.at, a.stage, a.code, a.enhanced_code AS "enhancedCode", a.text FROM messages q
         JOIN delivery_attempts a ON a.project_id = q.project_id AND a.request_id = q.id
         WHERE q.project_id = ? AND q.person_id = ? AND a.outcome = 'bounced' ORDER BY a.at DESC, a.n DESC LIMIT 1`,
      [project, personId],
    );
    return row as unknown as BounceEvidence | null;
  }
}

/** Reports about a reminder belong to its survey. */
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

const LAST_MAILED_AT = `coalesce(r.sent_at, r.transmitting_at, ${MAILED_AT})`;

const LAST_MAILED = `SELECT q.project_id AS "projectId", q.id, ${LAST_MAILED_AT} AS at FROM people w
  JOIN messages q ON q.project_id = w.project_id AND q.person_id = w.id
  LEFT JOIN messages r ON r.project_id = q.project_id AND r.request_id = q.id AND r.channel = 'reminder'
  WHERE w.project_id = ? AND w.email_key = ? AND q.channel = 'email' AND ${LAST_MAILED_AT} >= ?
  ORDER BY at DESC, q.id DESC LIMIT 1`;

/** `+` and `CROSS JOIN` keep the engine from scanning all of the project's surveys and attempts. */
const SOFT = `SELECT last.id, last.email, a.at, a.text FROM (SELECT q.id, w.email FROM messages q JOIN people w ON w.project_id = q.project_id AND w.id = q.person_id
    WHERE q.project_id = ? AND q.person_id = ? AND q.channel = 'email' AND ${MAILED_AT} > coalesce(w.last_responded_at, 0)
    ORDER BY +q.id DESC LIMIT ?) AS last
  CROSS JOIN delivery_attempts a WHERE a.project_id = ? AND a.request_id = last.id AND a.outcome = 'soft'
  ORDER BY a.at DESC, last.id DESC, a.n DESC`;

/** `CROSS JOIN` makes the engine start from the few bounces and look up their surveys. */
const SOFT_BOUNCERS = `SELECT DISTINCT q.person_id AS id FROM delivery_attempts a
  CROSS JOIN messages q JOIN people w ON w.project_id = q.project_id AND w.id = q.person_id
  WHERE q.project_id = a.project_id AND q.id = a.request_id AND a.project_id = ? AND a.outcome = 'soft' AND q.person_id > ? AND w.bounced_at IS NULL ORDER BY q.person_id`;
