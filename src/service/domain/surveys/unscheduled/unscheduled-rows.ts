/** Surveys that were asked for and not scheduled. See `Store` in `../../ports.ts`. */
import type { Channel } from "../../../../contract/routes.ts";
import type { SurveyStatus, SurveyStatusName } from "../../../../contract/text/survey-status.ts";
import type { DuePage } from "../../delivery/rows.ts";
import type { TimeRange } from "../../inputs.ts";

interface NewUnscheduled {
  readonly personId: number;
  readonly channel: Channel;
  readonly status: SurveyStatus;
}

export interface UnscheduledRow extends NewUnscheduled {
  readonly id: number;
  /** When it was asked for, Unix seconds. */
  readonly at: number;
  readonly email: string | null;
  readonly phoneNumber: string | null;
}

export interface UnscheduledRows {
  /** Keeps that a survey was asked for now, and why it was not scheduled. */
  add(project: number, unscheduled: NewUnscheduled): Promise<void>;
  list(project: number, name: SurveyStatusName, page: DuePage): Promise<readonly UnscheduledRow[]>;
  count(project: number, name: SurveyStatusName, range: TimeRange): Promise<number>;
  /** Newest first. */
  ofPerson(project: number, personId: number, limit: number): Promise<readonly UnscheduledRow[]>;
  /** Deletes rows from before `before`. Returns how many; less than the limit: all. */
  prune(before: number, limit: number): Promise<number>;
}
