import { Rows } from "../sql/rows.ts";
import { NEWEST_WRITE, NO_PROJECT } from "../sql/project-states.ts";
import { NEXT_SURVEY_AT } from "./delivery/rows/claims.ts";

export class ClockRows extends Rows {
  async newestWriteAt(): Promise<number> {
    return Number((await this.database.first(NEWEST_WRITE))?.at ?? 0);
  }

  /** Resets times in the future, such as those of the newest write, surveys and webhooks, to the current time. */
  async takeBack(): Promise<void> {
    const projects = (await this.database.all("SELECT id FROM projects ORDER BY id")).map(({ id }) => Number(id));
    for (const project of [NO_PROJECT, ...projects]) {
      const state = await this.database.state(project);
      state.clock = Math.min(state.clock, this.session.updatedAt);
      for (const sql of TAKEN_BACK) {
        const nows = Array.from({ length: sql.split("?").length - 2 }, () => this.session.now);
        this.database.send(sql, [...nows, project]);
      }
    }
    // Deletes processes last seen in the future. Those that are still running reappear within seconds.
    this.database.send("DELETE FROM processes WHERE seen_at > ? + 60", [this.session.now]);
  }
}

/**
 * In each statement, the last parameter is the project, and all others are the current time. Pending messages keep
 * their delays.
 */
const TAKEN_BACK = [
  `UPDATE messages SET due_at = due_at - (created_at - ?), scheduled_at = scheduled_at - (created_at - ?),
     planned_at = planned_at - (created_at - ?), created_at = ?
   WHERE created_at > ? AND due_at IS NOT NULL AND project_id = ?`,
  `UPDATE messages SET due_at = ?, scheduled_at = CASE WHEN scheduled_at > ? THEN ? ELSE scheduled_at END
   WHERE claims > 0 AND due_at > ? + 691200 AND project_id = ?`,
  "UPDATE messages SET transmitting_at = ? WHERE transmitting_at > ? AND project_id = ?",
  "UPDATE messages SET first_attempt_at = ? WHERE first_attempt_at > ? AND project_id = ?",
  "UPDATE people SET last_sent_at = ? WHERE last_sent_at > ? AND project_id = ?",
  `UPDATE people SET next_survey_at = ${NEXT_SURVEY_AT} WHERE next_survey_at > ? AND project_id = ?`,
  "UPDATE projects SET limited_until = ? WHERE limited_until > ? + 172800 AND id = ?",
  "UPDATE webhook_deliveries SET due_at = ? WHERE due_at > ? + 172800 AND project_id = ?",
  "UPDATE webhooks SET slow_until = ? WHERE slow_until > ? + 172800 AND project_id = ?",
] as const;
