import type { AutopilotConfiguration, Platform, Properties } from "../../../contract/resources.ts";
import type { JsonRows, Position } from "./list-rows.ts";

export interface MembershipRow {
  readonly personId: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly properties: Properties;
  /** The request that waits to be sent; null when none does. */
  readonly nextRequestId: number | null;
}

export interface MembersFilter {
  readonly personId: number | null;
  readonly after: Position | null;
  readonly limit: number;
}

export interface AutopilotRows {
  configuration(project: number, platform: Platform): Promise<AutopilotConfiguration>;
  /**
   * Pauses or wakes the platform's waiting requests, and reschedules recurring ones when the frequency changes: the
   * first thousand at once, the others by and by; see `Store.settle`.
   */
  configure(
    project: number,
    platform: Platform,
    change: { readonly active: boolean; readonly frequencySeconds: number },
  ): Promise<void>;
  member(project: number, platform: Platform, personId: number): Promise<MembershipRow | null>;
  insertMember(
    project: number,
    platform: Platform,
    member: { readonly personId: number; readonly properties: Properties },
  ): Promise<void>;
  setMemberProperties(project: number, platform: Platform, personId: number, properties: Properties): Promise<void>;
  /** Names the request that is the member's next; null for none. */
  setNextRequest(project: number, platform: Platform, personId: number, requestId: number | null): Promise<void>;
  deleteMember(project: number, platform: Platform, personId: number): Promise<void>;
  /** In the order in which they were added, `Membership` as JSON; `Position.id` is the person's. */
  list(project: number, platform: Platform, filter: MembersFilter): Promise<JsonRows>;
}
