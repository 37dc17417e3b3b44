/** The port for erasing people and keeping responses for a limited time. See `Store` in `../ports.ts`. */
import type { Platform } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Project } from "../inputs.ts";

/** Rows of one person, or of everybody in a project. */
export interface ErasedCounts {
  readonly responses: number;
  readonly surveys: number;
  /** Attempts of their deliveries. */
  readonly attempts: number;
  readonly memberships: number;
  /** Waiting and kept events for webhooks. */
  readonly events: number;
}

/** An address or id that was erased, as a keyed hash; what is older than `at` belongs to somebody who left. */
export interface ErasureEntry {
  readonly hash: string;
  /** Unix seconds. */
  readonly at: number;
}

/** Rows of others that may mention an address, by kind. */
export const MENTION_KINDS = ["people", "resubscriptions", "surveys", "members", "responses", "events"] as const;
export type MentionKind = (typeof MENTION_KINDS)[number];

/** A row of somebody else with the address in it. */
export interface Mention {
  readonly kind: MentionKind;
  /** Of a member or a resubscription the person's. */
  readonly id: number;
  /** The person whose row it is. */
  readonly personId: number;
  readonly platform: Platform | null;
  /** Of a survey or member their properties; else null. */
  readonly text: string | null;
}

/** The unsubscribe link of an erased person's message. */
export interface ErasedLink {
  readonly project: Project;
  readonly channel: Channel;
  /** By which its address is suppressed. */
  readonly addressHash: string;
}

/** The treatment of responses that are too old. */
export type RetentionMode = "anonymize" | "delete";

/** Everything from before is too old; null keeps all. Unix seconds. */
export interface RetentionLimits {
  readonly responses: number | null;
  readonly mode: RetentionMode;
  readonly requests: number | null;
  readonly events: number | null;
}

export interface RetentionCounts {
  readonly responses: number;
  readonly requests: number;
  readonly events: number;
}
