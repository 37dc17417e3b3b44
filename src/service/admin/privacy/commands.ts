/** The commands of `service erase` and `service retention`, and their answers. */

export type PrivacyCommand =
  | {
      readonly kind: "erase";
      /** Null: all projects. */
      readonly project: string | null;
      /** One of the two. */
      readonly email: string | null;
      readonly phoneNumber: string | null;
      readonly dryRun: boolean;
      /** The address is taken out of rows of others as well. */
      readonly properties: boolean;
      readonly forgetUnsubscribe: boolean;
    }
  /** Changes what is given, follows it, and shows all; null keeps everything. */
  | {
      readonly kind: "retention";
      readonly project: string;
      readonly change: RetentionChange;
      readonly dryRun: boolean;
    };

/** Seconds. */
export interface RetentionChange {
  readonly responses?: number | null;
  readonly mode?: "anonymize" | "delete";
  readonly requests?: number | null;
  readonly webhooks?: number | null;
}

/** A receipt: counts and a time, and nothing that tells who it was. */
export interface ErasureInfo {
  /** Null when nothing was erased, only counted. */
  readonly erased_at: number | null;
  /** Projects that were searched. */
  readonly projects: number;
  readonly people: number;
  readonly responses: number;
  readonly surveys: number;
  readonly attempts: number;
  readonly memberships: number;
  readonly webhook_events: number;
  /** Messages that were removed from the outbox; null when nothing was erased, or a server will remove them. */
  readonly messages: number | null;
  /** Rows of others with the address in them: redacted when that was asked for, else left as they are. */
  readonly mentions: number;
  /** The hashes that are kept; null when nothing was erased. */
  readonly suppressions_kept: number | null;
  readonly links_kept: number | null;
  /**
   * True when a search of the data file's bytes has found nothing of the person; null when nothing was erased, or the
   * database keeps its files to itself.
   */
  readonly verified: boolean | null;
  /** What failed after the rows were gone; null if nothing did. */
  readonly problem: string | null;
}

export interface RetentionInfo {
  /** Seconds; null keeps everything. */
  readonly responses: number | null;
  readonly mode: "anonymize" | "delete" | null;
  readonly requests: number | null;
  readonly webhooks: number | null;
  /** The rows that were taken away now, or would be. */
  readonly expired_responses: number;
  readonly expired_requests: number;
  readonly expired_webhook_events: number;
}

export interface PrivacyResults {
  erase: ErasureInfo;
  retention: RetentionInfo;
}
