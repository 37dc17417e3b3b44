/** The rows of Autopilot in an engine: settings and members. See `Store` in `../ports.ts`. */
import type { AutopilotConfiguration, Platform, Properties } from "../../../contract/resources.ts";
import type { JsonRows, Position } from "../rows.ts";
import type { AutopilotSettings } from "./autopilot-settings.ts";
import type { Start } from "./due-moment.ts";

export interface MembershipRow {
  readonly personId: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly properties: Properties;
  /** The request that waits to be sent; null when none does. */
  readonly nextRequestId: number | null;
  readonly nextSurveyAt: number | null;
  /** Counted from 1 on the platform, in the order in which people joined. */
  readonly number: number;
  readonly start: Start;
  /** The next survey is not due sooner; null for no such bound. */
  readonly notBefore: number | null;
}

export interface MembersFilter {
  readonly personId: number | null;
  readonly after: Position | null;
  readonly limit: number;
}

export interface AutopilotRows {
  configuration(project: number, platform: Platform): Promise<AutopilotConfiguration>;
  settings(project: number, platform: Platform): Promise<AutopilotSettings>;
  /** Stores the settings and, where they differ, lets what waits follow them as `reschedule` does. */
  configure(project: number, platform: Platform, settings: AutopilotSettings): Promise<void>;
  /**
   * Moves the platform's waiting requests to where its settings put them, paused where it is inactive: the first
   * thousand at once, the others by and by; see `Store.settle`.
   */
  reschedule(project: number, platform: Platform): Promise<void>;
  /** The people who have joined so far, those who left included: the number of the one who joined last. */
  joined(project: number, platform: Platform): Promise<number>;
  member(project: number, platform: Platform, personId: number): Promise<MembershipRow | null>;
  insertMember(
    project: number,
    platform: Platform,
    member: { readonly personId: number; readonly properties: Properties; readonly start: Start },
  ): Promise<MembershipRow>;
  setMemberProperties(project: number, platform: Platform, personId: number, properties: Properties): Promise<void>;
  /** Names the request that is the member's next, null for none, and what it is counted from. */
  setNext(
    project: number,
    platform: Platform,
    personId: number,
    next: { readonly requestId: number | null; readonly start: Start },
  ): Promise<void>;
  /** The member's next survey is not due sooner; one that waits and was not tried moves there. */
  postpone(
    project: number,
    platform: Platform,
    member: MembershipRow,
    to: { readonly notBefore: number; readonly dueAt: number },
  ): Promise<void>;
  deleteMember(project: number, platform: Platform, personId: number): Promise<void>;
  /** In the order in which they were added, `Membership` as JSON; `Position.id` is the person's. */
  list(project: number, platform: Platform, filter: MembersFilter): Promise<JsonRows>;
}
