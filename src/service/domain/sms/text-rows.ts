/** The rows of text messages besides the surveys themselves. See `Store` in `../ports.ts`. */
import type { Properties } from "../../../contract/resources.ts";
import type { Project } from "../inputs.ts";

/** A survey that was sent as a text message. */
export interface TextedSurvey {
  readonly project: Project;
  readonly requestId: number;
  readonly personId: number;
  readonly token: string;
  /** The sender as the gateway was told; null where that was left to it. */
  readonly from: string | null;
}

/** The text that goes back to somebody who texted. */
export type ReplyKind = "ask-comment" | "thanks" | "ask-again" | "help" | "stopped" | "started";

/** A reply that is marked as transmitted, and may be sent once. */
export interface DueReply {
  readonly project: Project;
  readonly id: number;
  readonly kind: ReplyKind;
  /** The same for each attempt. */
  readonly key: string;
  /** That the person gave; null for none. */
  readonly score: number | null;
  /** The number of earlier attempts. */
  readonly attempts: number;
  readonly createdAt: number;
  /** Null when the person has none any more, or is gone. */
  readonly phoneNumber: string | null;
  /** Of the survey. */
  readonly properties: Properties;
}

/** One of several messages that carry a long text. */
export interface TextPart {
  /** The same for all parts. */
  readonly reference: string;
  /** From 1. */
  readonly number: number;
  readonly total: number;
}

export interface TextRows {
  /** Surveys texted to this number since then, in all projects; the newest first, some at most. */
  surveysTo(phoneNumber: string, since: number): Promise<readonly TextedSurvey[]>;
  addReply(
    survey: TextedSurvey,
    reply: { readonly kind: ReplyKind; readonly key: string; readonly score: number | null },
  ): Promise<void>;
  /** When such a reply to the survey's person was last made; null for never. */
  lastReplyAt(survey: TextedSurvey, kind: ReplyKind): Promise<number | null>;
  /** Takes back what still waits to be sent. */
  dropReplies(survey: TextedSurvey): Promise<void>;
  /**
   * Marks replies that are due as transmitted, of the first so many those of one project, and returns them; they are
   * never claimed again unless they are put back.
   */
  claimReplies(project: number, limit: number): Promise<readonly DueReply[]>;
  /** `dueAt` null: it has come to its end. */
  settleReply(reply: DueReply, end: { readonly outcome: string; readonly dueAt: number | null }): Promise<void>;
  /** A text that was being transmitted when the process ended is unknown. Returns their number. */
  loseReplies(): Promise<number>;
  /** When the next reply is due, and in which project; null when none waits. */
  nextReply(): Promise<{ readonly at: number; readonly project: number } | null>;
  /** Segments that a project sent on a day of its own calendar, such as `2026-05-31`. */
  segmentsOn(project: number, day: string): Promise<number>;
  addSegments(project: number, day: string, segments: number): Promise<void>;
  /** Keeps a part of a text; the whole text once all parts are there, else null. */
  joinPart(phoneNumber: string, part: TextPart, text: string): Promise<string | null>;
  dropParts(phoneNumber: string): Promise<void>;
  /** Forgets parts whose others never came, and replies of before `before`. Returns how many; less than the limit: all. */
  prune(before: { readonly parts: number; readonly replies: number }, limit: number): Promise<number>;
}
