import type { Properties } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Project, TimeRange } from "../inputs.ts";

export interface NewRequest {
  readonly personId: number;
  readonly channel: Channel;
  /** Whether Autopilot made it. */
  readonly autopilot: boolean;
  readonly createdAt: number;
  readonly scheduledAt: number;
  /** Kept, but not due: its Autopilot is inactive. */
  readonly paused: boolean;
  readonly properties: Properties;
  readonly token: string;
}

/** A survey request that a scheduler has claimed: all that a message needs. */
export interface DueSurvey {
  readonly project: Project;
  readonly requestId: number;
  readonly channel: Channel;
  readonly autopilot: boolean;
  readonly token: string;
  /** As given on the request; `readSpecialProperties` gives their meaning. */
  readonly properties: Properties;
  readonly scheduledAt: number;
  /** How many tries came before this one. */
  readonly attempts: number;
  readonly claimer: string;
  readonly person: {
    readonly id: number;
    readonly email: string | null;
    readonly name: string | null;
    readonly phoneNumber: string | null;
  };
}

/** A survey whose person is gone, while its message may still lie somewhere. */
export type ErasedSurvey = Pick<DueSurvey, "requestId" | "channel" | "token"> & {
  readonly project: Pick<Project, "id">;
};

export interface Claim {
  /** Names the scheduler that claims. */
  readonly claimer: string;
  /** A claim that is not finished after this long is found again. */
  readonly leaseSeconds: number;
  readonly limit: number;
}

/** Survey requests. Each method keeps the person's `nextSurveyAt` true. */
export interface RequestRows {
  /** The new request's id. */
  insert(project: number, request: NewRequest): Promise<number>;
  /** Replaces the properties of one that waits. */
  setProperties(project: number, id: number, properties: Properties): Promise<void>;
  /**
   * Drops a person's waiting requests: of one channel (null: all), and only Autopilot's or only the others (null: both).
   * One that is claimed at this moment is finished by its claimer, but never found again.
   */
  cancel(
    project: number,
    personId: number,
    which: { readonly channel: Channel | null; readonly autopilot: boolean | null },
  ): Promise<void>;
  /** Claims what is due: projects take turns, and within one the earliest come first. */
  claimDue(claim: Claim): Promise<readonly DueSurvey[]>;
  /** When the next unclaimed request, or the next lease, is due; null when nothing waits. */
  nextDueAt(): Promise<number | null>;
  /** Makes claims of others than these schedulers due again. Returns how many. */
  releaseClaims(living: readonly string[]): Promise<number>;
  /** Marks a claimed request as sent now; false when this claim is not the request's any more. */
  markSent(due: DueSurvey): Promise<boolean>;
  /** Takes a claimed request out without having sent it; false as above. */
  markFailed(due: DueSurvey): Promise<boolean>;
  /** Gives a claimed request back, due at `dueAt`; false as above. */
  postpone(due: DueSurvey, dueAt: number): Promise<boolean>;
  /** When the person's last Autopilot survey on the channel was sent; now for one on its way, null for none. */
  lastAutopilotAt(project: number, personId: number, channel: Channel): Promise<number | null>;
  /** Surveys that were handed over, or were about to be, and went with their person; over all projects. */
  listErased(limit: number): Promise<readonly ErasedSurvey[]>;
  /** Says that nothing is left of these. */
  forgetErased(surveys: readonly ErasedSurvey[]): Promise<void>;
  countSent(project: number, channel: Channel, range: TimeRange): Promise<number>;
  /** The survey that a link names, in whichever project; null when there is none. */
  byToken(token: string): Promise<SurveyLink | null>;
}

/** What a link of a message leads to. */
export interface SurveyLink {
  readonly project: Project;
  readonly requestId: number;
  readonly personId: number;
  readonly channel: Channel;
  readonly properties: Properties;
  /** The response given already through this link. */
  readonly responseId: number | null;
}
