import type { OutgoingChannel } from "../queue-rows.ts";
import type { Waiting } from "../rows.ts";
import type { Database } from "../../../sql/database.ts";

/** A postponed message is due later than planned. */
const WAITING = `SELECT channel, autopilot, count(*) AS n, min(due_at) AS "dueAt" FROM messages
  WHERE project_id = ? AND channel IN ('email', 'sms', 'reminder', 'sms-reminder') AND due_at IS NOT NULL
    AND claimer IS NULL AND coalesce(planned_at, due_at) <= ? GROUP BY channel, autopilot ORDER BY channel, autopilot`;

export async function listWaiting(database: Database, now: number, project: number): Promise<readonly Waiting[]> {
  const rows = await database.all(WAITING, [project, now]);
  return rows.map(({ channel, autopilot, n, dueAt }) => ({
    channel: channel as OutgoingChannel,
    isAutopilot: autopilot === 1,
    count: Number(n),
    dueAt: Number(dueAt),
  }));
}
