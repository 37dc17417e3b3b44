/** The commands of `service digest`, and their answers. */
import type { DigestState } from "../../domain/delivery/digest-rows.ts";

export type DigestCommand =
  /** An address that has one gets the new schedule. */
  | {
      readonly kind: "digest.add";
      readonly project: string;
      readonly email: string;
      /** 0 is Sunday. */
      readonly weekday: number;
      /** Of the day. */
      readonly minute: number;
      /** Null follows the project's. */
      readonly zone: string | null;
      /** Lets a Slack URL lead to private and loopback addresses; absent: no. */
      readonly allowPrivate?: boolean;
    }
  | { readonly kind: "digest.list"; readonly project: string }
  /** The mail that would go out now. */
  | { readonly kind: "digest.preview"; readonly project: string }
  /** Sends the digest of now to a reader once: an id, an address or a Slack URL. */
  | { readonly kind: "digest.test"; readonly project: string; readonly digest: string }
  /** `digest` is an id or an address. */
  | { readonly kind: "digest.remove"; readonly project: string; readonly digest: string };

export interface DigestInfo {
  readonly id: string;
  /** Of Slack the URL without its secret. */
  readonly email: string;
  readonly every: string;
  /** `08:00`. */
  readonly at: string;
  readonly tz: string;
  readonly state: DigestState | "unsubscribed";
  readonly next_at: number | null;
  readonly last_sent_at: number | null;
  /** The last reply; null where there was none. */
  readonly reason: string | null;
  readonly created_at: number;
}

/** A mail as it would be sent. */
export interface PreviewInfo {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Headers and both parts, as an `.eml` file has them. */
  readonly message: string;
}

export interface DigestTest {
  /** Without its secret. */
  readonly to: string;
  readonly subject: string;
  /** The answer of Slack or of the mail server; null where that has no number. */
  readonly status: number | null;
  readonly text: string;
}

export interface DigestResults {
  "digest.add": DigestInfo;
  "digest.list": readonly DigestInfo[];
  "digest.preview": PreviewInfo;
  "digest.test": DigestTest;
  "digest.remove": { readonly id: string; readonly email: string };
}
