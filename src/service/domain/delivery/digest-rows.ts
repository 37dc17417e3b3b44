/** The rows of weekly digests. See `Store` in `../ports.ts`. */
import type { Project } from "../inputs.ts";
import type { ClaimKey, DeliveryState, DigestSchedule } from "./queue-rows.ts";

/** Of the newest week that has begun. `unknown` was transmitted and had no reply: it is not sent again. */
type DigestState = Exclude<DeliveryState, "cancelled">;

export const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;

export interface DigestRow extends DigestSchedule {
  readonly project: Project;
  readonly id: number;
  /** An address, or the URL of an incoming webhook of Slack. */
  readonly email: string;
  /** Lets that URL lead to private and loopback addresses. */
  readonly allowPrivate: boolean;
  /** Leads to the page that ends it. */
  readonly token: string;
  readonly createdAt: number;
  /** When its reader ended it by the link of a mail; null while it is wanted. */
  readonly unsubscribedAt: number | null;
  readonly state: DigestState;
  /** When the next mail is due; null while one is in flight, and after a bounce. */
  readonly dueAt: number | null;
  /** When a mail was sent last. */
  readonly sentAt: number | null;
  /** Attempts of the newest week. */
  readonly attempts: number;
  /** The last words about the week that `state` is of; null where there were none. */
  readonly reason: string | null;
  /** The process that has the newest week in flight. */
  readonly claimer: string | null;
}

type NewDigest = DigestSchedule & Pick<DigestRow, "email" | "token" | "allowPrivate">;
export type DigestChange = Partial<
  Pick<DigestRow, "weekday" | "minute" | "zone" | "unsubscribedAt"> & { readonly allowPrivate: 0 | 1 }
>;

export interface DigestRows {
  /** The new digest's id. */
  insert(project: number, digest: NewDigest): Promise<number>;
  /** In order of creation; null for those of all projects. */
  list(project: number | null): Promise<readonly DigestRow[]>;
  byId(project: number, id: number): Promise<DigestRow | null>;
  /** In whichever project; null when there is none. */
  byToken(token: string): Promise<DigestRow | null>;
  change(project: number, id: number, change: DigestChange): Promise<void>;
  /** Its weeks go with it; its mails are noted as `eraseMails` does. */
  delete(project: number, id: number): Promise<void>;
  /** Puts the next week into the queue; weeks from before `before` are forgotten. */
  addWeek(project: number, id: number, week: { readonly dueAt: number; readonly before: number }): Promise<void>;
  /** Removes a week that waits. One that is claimed stays with its claimer. */
  dropWeek(project: number, id: number): Promise<void>;
  /** Says what time of the schedule a claimed week is for. */
  setWeek(claim: ClaimKey, at: number): Promise<void>;
  /** Takes a project's weeks that are claimed and not transmitting from their claimers, due again at `dueAt`. */
  takeBack(project: number, dueAt: number): Promise<void>;
  /** Notes that mails of it may be in an outbox and have to go: see `QueueRows.listErased`. */
  eraseMails(project: number, digest: Pick<DigestRow, "id" | "token">): Promise<void>;
}
