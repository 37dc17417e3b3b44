/** The port for erasing people and keeping responses for a limited time. See `Store` in `../ports.ts`. */
import type { Platform } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Project } from "../inputs.ts";
import type { Position } from "../rows.ts";

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

export interface ErasureRows {
  counts(project: number, personId: number): Promise<ErasedCounts>;
  /** Beginnings of what the person wrote and is described by: a copy of a deleted row is known by them. */
  samples(project: number, personId: number, limit: number): Promise<readonly string[]>;
  /** Of two times the later one is kept. */
  note(project: number, entry: ErasureEntry): Promise<void>;
  /** When each of these was erased, of those that were. */
  find(project: number, hashes: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Hashes from now on with the key of another log: this one must be empty. */
  adoptSecret(secret: string): Promise<void>;
  /** By hash, `limit` at most. */
  list(project: number, limit?: number): Promise<readonly ErasureEntry[]>;
  /** Keeps hashes of the person's unsubscribe links that were sent out. Returns how many. */
  keepLinks(project: number, personId: number): Promise<number>;
  /** Forgets the links of an address. */
  forgetLinks(project: number, addressHash: string): Promise<void>;
  /** The erased survey whose unsubscribe link has this token, in whichever project. */
  byUnsubscribeToken(token: string): Promise<ErasedLink | null>;
  /**
   * Rows of one kind with the text in it, of those after this id, and the last id that was looked at: null when no more
   * follow. Letters are compared without regard to case.
   */
  mentions(
    project: number,
    kind: MentionKind,
    page: { readonly text: string; readonly after: number },
  ): Promise<{ readonly found: readonly Mention[]; readonly next: number | null }>;
  /** Deletes an event and what is still to be delivered of it. */
  deleteEvent(project: number, id: number): Promise<void>;
  /** True when deleted rows may still be readable in the store's files. */
  isCleaning(): Promise<boolean>;
  setCleaning(isCleaning: boolean): Promise<void>;
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

export interface RetentionRows {
  /** `removed` is the person whose responses are anonymous; null when there is none yet. */
  count(project: number, limits: RetentionLimits, removed: number | null): Promise<RetentionCounts>;
  /** Makes a person without address and name, whom no list shows. */
  addRemovedPerson(project: number): Promise<number>;
  /**
   * Deletes the next responses from before `before`, or with `removed` gives them to that person without comment,
   * properties, notes, tags and answers. Their scores stay where they are counted. `next` is null after the last ones.
   */
  responses(
    project: number,
    step: {
      readonly before: number;
      readonly removed: number | null;
      readonly after: Position | null;
      readonly limit: number;
    },
  ): Promise<{ readonly changed: number; readonly next: Position | null }>;
  /**
   * Deletes survey requests that were made before `before` and wait for nothing. How many; less than the limit: all.
   */
  requests(project: number, before: number, limit: number): Promise<number>;
  /** Deletes events of webhooks. How many; less than the limit: all. */
  events(project: number, before: number, limit: number): Promise<number>;
}
