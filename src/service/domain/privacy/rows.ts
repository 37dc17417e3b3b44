import type { Platform } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Project } from "../inputs.ts";

export interface ErasedCounts {
  readonly responses: number;
  readonly surveys: number;
  readonly attempts: number;
  readonly memberships: number;
  readonly events: number;
}

/** The keyed hash of an erased address or id; anything older than `at` belongs to the erased person. */
export interface ErasureEntry {
  readonly hash: string;
  readonly at: number;
}

export const MENTION_KINDS = ["people", "resubscriptions", "surveys", "members", "responses", "events"] as const;
export type MentionKind = (typeof MENTION_KINDS)[number];

export interface Mention {
  readonly kind: MentionKind;
  /** For members and resubscriptions, the person's id. */
  readonly id: number;
  readonly personId: number;
  readonly platform: Platform | null;
  /** The properties of a survey or member; otherwise null. */
  readonly text: string | null;
}

export interface ErasedLink {
  readonly project: Project;
  readonly channel: Channel;
  readonly addressHash: string;
}

export type RetentionMode = "anonymize" | "delete";

/** Rows before these times expire; null keeps all. Unix seconds. */
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
  /** Lines of the log. */
  readonly log: number;
}
