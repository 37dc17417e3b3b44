/** Waiting surveys of Autopilot follow changed settings: a thousand members a step. */
import { createWallClock, DEFAULT_ZONE } from "../../../../runtime/zone.ts";
import type { AutopilotSettings } from "./autopilot-settings.ts";
import { dueMoment, type Start } from "../due-moment.ts";
import { type Database, numberOrNull, type SqlRow } from "../../../sql/database.ts";
import { updateRows } from "../../../sql/lists/counted-rows.ts";
import { refreshNextSurvey } from "../../delivery/rows/claims.ts";
import { type LongChange, STEP } from "../../../sql/long-changes.ts";
import { readAutopilotSettings } from "./settings-rows.ts";

/** The next members whose requests wait; one that is on its way is left alone. */
const WAITING = `SELECT m.person_id AS "personId", m.number, m.start, m.not_before AS "notBefore", q.id, q.state, q.claims,
    q.attempts, q.scheduled_at AS "scheduledAt", q.due_at AS "dueAt"
  FROM memberships m JOIN messages q ON q.project_id = m.project_id AND q.id = m.next_request_id
  WHERE m.project_id = ? AND m.platform = ? AND m.person_id > ?
    AND q.claimer IS NULL AND q.state IN ('scheduled', 'retrying', 'paused')
  ORDER BY m.person_id LIMIT ${STEP}`;

/** A step of "reschedule". */
export async function rescheduleStep(database: Database, now: number, change: LongChange): Promise<number | null> {
  const { project, target, doneTo } = change;
  const settings = await readAutopilotSettings(database, project, target);
  const wallClock = createWallClock(await readZone(database, project));
  const rows = await database.all(WAITING, [project, target, doneTo]);
  for (const row of rows) {
    const next = follow(row, settings, wallClock, now);
    if (
      next.state !== row.state ||
      next.scheduledAt !== Number(row.scheduledAt) ||
      next.dueAt !== numberOrNull(row.dueAt)
    )
      await store(database, now, change, row, next);
  }
  return rows.length < STEP ? null : Number(rows.at(-1)?.personId);
}

async function readZone(database: Database, project: number): Promise<string> {
  const row = await database.first("SELECT value FROM project_settings WHERE project_id = ? AND name = 'tz'", [
    project,
  ]);
  return row === null ? DEFAULT_ZONE : String(row.value);
}

interface Next {
  readonly state: "scheduled" | "retrying" | "paused";
  readonly start: Start;
  readonly scheduledAt: number;
  /** Null while it is paused. */
  readonly dueAt: number | null;
}

/**
 * One that was tried keeps its time; what fell due while it was paused is counted from now. One that is overdue, and
 * would be so again, stays where it is.
 */
function follow(
  row: SqlRow,
  { active, frequency, window }: AutopilotSettings,
  wallClock: (seconds: number) => number,
  now: number,
): Next {
  const scheduledAt = Number(row.scheduledAt);
  const kept = JSON.parse(String(row.start)) as Start;
  const facts = { number: Number(row.number), notBefore: numberOrNull(row.notBefore), frequency, window, wallClock };
  const isUntouched = Number(row.claims) === 0;
  const keptAt = isUntouched ? dueMoment({ ...facts, start: kept, now: Math.min(now, scheduledAt) }) : scheduledAt;
  const isResumed = active && row.state === "paused" && keptAt <= now;
  const start: Start = isResumed ? { kind: "resume", at: now } : kept;
  const at = isResumed ? dueMoment({ ...facts, start, now }) : keptAt;
  const isMoved = isResumed || isUntouched;
  if (!active) return { state: "paused", start, scheduledAt: at, dueAt: null };
  const state = Number(row.attempts) > 0 ? "retrying" : "scheduled";
  return { state, start, scheduledAt: at, dueAt: isMoved ? at : (numberOrNull(row.dueAt) ?? at) };
}

async function store(
  database: Database,
  now: number,
  { project, target }: LongChange,
  row: SqlRow,
  next: Next,
): Promise<void> {
  const personId = Number(row.personId);
  const set = "state = ?, planned_at = CASE WHEN scheduled_at = ? THEN planned_at END, scheduled_at = ?, due_at = ?";
  const values = [next.state, next.scheduledAt, next.scheduledAt, next.dueAt];
  const message = ["project_id = ? AND id = ?", project, Number(row.id)] as const;
  await updateRows(database, "messages", [set, ...values], message);
  refreshNextSurvey(database, project, personId);
  if (next.scheduledAt === Number(row.scheduledAt)) return;
  database.send(
    "UPDATE memberships SET start = ?, updated_at = ? WHERE project_id = ? AND platform = ? AND person_id = ?",
    [JSON.stringify(next.start), now, project, target, personId],
  );
}
