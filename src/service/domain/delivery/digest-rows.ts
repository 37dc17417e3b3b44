/** The rows of weekly digests. See `Store` in `../ports.ts`. */
import type { Project } from "../inputs.ts";

/** Of the newest mail. `unknown` was transmitted and had no reply: it is not sent again. */
export type DigestState =
  | "scheduled"
  | "claimed"
  | "transmitting"
  | "retrying"
  | "held"
  | "sent"
  | "unknown"
  | "bounced"
  | "failed";

export const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;

export interface DigestSchedule {
  /** 0 is Sunday. */
  readonly weekday: number;
  /** Of the day, 0 to 1439. */
  readonly minute: number;
  /** IANA name; null follows the project's. */
  readonly zone: string | null;
}

export interface DigestRow extends DigestSchedule {
  readonly project: Project;
  readonly id: number;
  readonly email: string;
  /** Leads to the page that ends it. */
  readonly token: string;
  readonly createdAt: number;
  /** When its reader ended it by the link of a mail; null while it is wanted. */
  readonly unsubscribedAt: number | null;
  readonly state: DigestState;
  /** When something is to be done next; null while a mail is in hand, and for good after a bounce. */
  readonly dueAt: number | null;
  /** The time of the schedule that the newest mail is for: what no second mail is ever for. */
  readonly periodAt: number | null;
  readonly sentAt: number | null;
  /** Attempts of the mail in hand. */
  readonly attempts: number;
  /** The last words about the newest mail; null where there were none. */
  readonly reason: string | null;
  /** Which process has it in hand. */
  readonly claimer: string | null;
}

export type NewDigest = DigestSchedule & Pick<DigestRow, "email" | "token" | "dueAt">;
export type DigestChange = Partial<Omit<DigestRow, "project" | "id" | "email" | "token" | "createdAt">>;

export interface DigestRows {
  /** The new digest's id. */
  insert(project: number, digest: NewDigest): Promise<number>;
  /** In order of creation; null for those of all projects. */
  list(project: number | null): Promise<readonly DigestRow[]>;
  /** In whichever project; null when there is none. */
  byToken(token: string): Promise<DigestRow | null>;
  change(project: number, id: number, change: DigestChange): Promise<void>;
  /** Its mails are noted as `eraseMails` does. */
  delete(project: number, id: number): Promise<void>;
  /** Notes that mails of it may be in an outbox and have to go: see `RequestRows.listErased`. */
  eraseMails(digest: Pick<DigestRow, "project" | "id" | "token">): Promise<void>;
}
