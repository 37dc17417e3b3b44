import type { Platform } from "../../../../contract/resources.ts";
import type { Database } from "../engine/database.ts";
import type { SqlValue } from "../engine/engine.ts";

interface Change {
  readonly project: number;
  readonly platform: Platform;
  readonly active: boolean;
  readonly frequencySeconds: number;
}

/** The requests that wait for the platform's members; one on its way is left alone. */
const WAITING = `claimer IS NULL AND state IN ('waiting', 'paused') AND project_id = ?
  AND id IN (SELECT next_request_id FROM memberships WHERE project_id = ? AND platform = ?)`;

/** Stores the configuration and lets what waits follow it. */
export function configure(database: Database, now: number, change: Change): void {
  const { project, platform, active, frequencySeconds } = change;
  const old = database.first(
    "SELECT active, frequency FROM autopilot_configurations WHERE project_id = ? AND platform = ?",
    [project, platform],
  );
  if (old === null || (old.active === Number(active) && old.frequency === frequencySeconds)) return;
  database.run(
    "UPDATE autopilot_configurations SET active = ?, frequency = ?, updated_at = ? WHERE project_id = ? AND platform = ?",
    [Number(active), frequencySeconds, now, project, platform],
  );
  if (old.frequency !== frequencySeconds) reschedule(database, now, change);
  setActive(database, change);
  refreshNextSurveys(database, change);
}

/** Recurring surveys that were not tried yet move to their last one plus the new interval; first ones stay where they are. */
function reschedule(database: Database, now: number, { project, platform, frequencySeconds }: Change): void {
  const recurring = `${WAITING} AND scheduled_at > created_at AND attempts = 0`;
  const which: SqlValue[] = [project, project, platform];
  database.run(
    `UPDATE memberships SET updated_at = ? WHERE project_id = ? AND platform = ? AND next_request_id IN (SELECT id FROM survey_requests WHERE ${recurring})`,
    [now, project, platform, ...which],
  );
  database.run(`UPDATE survey_requests SET scheduled_at = created_at + ?, due_at = created_at + ? WHERE ${recurring}`, [
    frequencySeconds,
    frequencySeconds,
    ...which,
  ]);
}

function setActive(database: Database, { project, platform, active }: Change): void {
  const which: SqlValue[] = [project, project, platform];
  if (active) {
    database.run(
      `UPDATE survey_requests SET state = 'waiting', due_at = coalesce(due_at, scheduled_at) WHERE ${WAITING}`,
      which,
    );
  } else {
    database.run(`UPDATE survey_requests SET state = 'paused', due_at = NULL WHERE ${WAITING}`, which);
  }
}

function refreshNextSurveys(database: Database, { project, platform }: Change): void {
  database.run(
    `UPDATE people SET next_survey_at =
       (SELECT min(r.scheduled_at) FROM survey_requests r WHERE r.project_id = people.project_id AND r.person_id = people.id AND r.state = 'waiting')
     WHERE project_id = ? AND id IN (SELECT person_id FROM memberships WHERE project_id = ? AND platform = ?)`,
    [project, project, platform],
  );
}
