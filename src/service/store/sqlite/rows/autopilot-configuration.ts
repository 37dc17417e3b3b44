import type { Platform } from "../../../../contract/resources.ts";
import type { Database } from "../engine/database.ts";
import type { SqlValue } from "../engine/engine.ts";
import { STEP, type LongChange, type LongChanges } from "../steps/long-changes.ts";

interface Change {
  readonly project: number;
  readonly platform: Platform;
  readonly active: boolean;
  readonly frequencySeconds: number;
}

/** Stores the configuration and lets what waits follow it, in steps. */
export function configure(database: Database, changes: LongChanges, now: number, change: Change): void {
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
  if (old.frequency !== frequencySeconds) changes.begin({ project, kind: "follow frequency", target: platform });
  if (old.active !== Number(active)) changes.begin({ project, kind: "follow activity", target: platform });
}

/** Some members of a platform, by their people's ids. */
const MEMBERS = "project_id = ? AND platform = ? AND person_id > ? AND person_id <= ?";
/** The requests that wait for them; one on its way is left alone. */
const WAITING = `claimer IS NULL AND state IN ('waiting', 'paused') AND project_id = ?
  AND id IN (SELECT next_request_id FROM memberships WHERE ${MEMBERS})`;

/** When the person's last Autopilot survey was sent; a person who left and came back has one that is older than the request. */
const LAST_AT = `coalesce((SELECT max(s.sent_at) FROM survey_requests s WHERE s.project_id = survey_requests.project_id
  AND s.person_id = survey_requests.person_id AND s.channel = survey_requests.channel AND s.autopilot = 1), created_at)`;

/** A step of "follow frequency": recurring surveys that were not tried yet move to their last one plus the interval; first ones stay. */
export function followFrequencyStep(database: Database, now: number, change: LongChange): number | null {
  return changeMembers(database, change, (members) => {
    const interval = Number(readConfiguration(database, change).frequency);
    const moved = `${WAITING} AND scheduled_at > created_at AND attempts = 0 AND scheduled_at <> ${LAST_AT} + ?`;
    const which = [change.project, ...members, interval];
    database.run(
      `UPDATE memberships SET updated_at = ? WHERE ${MEMBERS} AND next_request_id IN (SELECT id FROM survey_requests WHERE ${moved})`,
      [now, ...members, ...which],
    );
    database.run(
      `UPDATE survey_requests SET scheduled_at = ${LAST_AT} + ?, due_at = CASE WHEN state = 'waiting' THEN ${LAST_AT} + ? END
       WHERE ${moved}`,
      [interval, interval, ...which],
    );
  });
}

/** A step of "follow activity": what waits is paused, or is due again. */
export function followActivityStep(database: Database, change: LongChange): number | null {
  return changeMembers(database, change, (members) => {
    const follow =
      readConfiguration(database, change).active === 1
        ? "state = 'waiting', due_at = coalesce(due_at, scheduled_at)"
        : "state = 'paused', due_at = NULL";
    database.run(`UPDATE survey_requests SET ${follow} WHERE ${WAITING}`, [change.project, ...members]);
  });
}

function readConfiguration(
  database: Database,
  { project, target }: LongChange,
): { active: SqlValue; frequency: SqlValue } {
  const row = database.first(
    "SELECT active, frequency FROM autopilot_configurations WHERE project_id = ? AND platform = ?",
    [project, target],
  );
  return row as { active: SqlValue; frequency: SqlValue };
}

/** Changes the platform's next members, given as the values of `MEMBERS`, and looks their next surveys up again. */
function changeMembers(
  database: Database,
  { project, target, doneTo }: LongChange,
  work: (members: readonly SqlValue[]) => void,
): number | null {
  const last = database.first(
    "SELECT person_id AS id FROM memberships WHERE project_id = ? AND platform = ? AND person_id > ? ORDER BY person_id LIMIT 1 OFFSET ?",
    [project, target, doneTo, STEP - 1],
  );
  const to = last === null ? Number.MAX_SAFE_INTEGER : Number(last.id);
  const members = [project, target, doneTo, to];
  work(members);
  database.run(
    `UPDATE people SET next_survey_at =
       (SELECT min(r.scheduled_at) FROM survey_requests r WHERE r.project_id = people.project_id AND r.person_id = people.id AND r.state = 'waiting')
     WHERE project_id = ? AND id IN (SELECT person_id FROM memberships WHERE ${MEMBERS})`,
    [project, ...members],
  );
  return last === null ? null : to;
}
