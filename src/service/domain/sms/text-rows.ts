/** The rows of text messages besides the surveys themselves. See `Store` in `../ports.ts`. */
import type { ReplyKind } from "../delivery/queue-rows.ts";
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

/** One of several messages that carry a long text. */
export interface TextPart {
  /** The same for all parts. */
  readonly reference: string;
  /** From 1. */
  readonly number: number;
  readonly total: number;
}

export interface TextRows {
  /** Surveys texted to this number since then, or their reminders, in all projects; the newest first, some at most. */
  surveysTo(phoneNumber: string, since: number): Promise<readonly TextedSurvey[]>;
  /** Puts a reply to the survey's person into the queue, due now. */
  addReply(survey: TextedSurvey, reply: { readonly kind: ReplyKind; readonly score: number | null }): Promise<void>;
  /** When such a reply to the survey's person was last made; null for never. */
  lastReplyAt(survey: TextedSurvey, kind: ReplyKind): Promise<number | null>;
  /** Takes back what still waits to be sent. */
  dropReplies(survey: TextedSurvey): Promise<void>;
  /** Segments that a project sent on a day of its own calendar, such as `2026-05-31`. */
  segmentsOn(project: number, day: string): Promise<number>;
  addSegments(project: number, day: string, segments: number): Promise<void>;
  /** Keeps a part of a text; the whole text once all parts are there, else null. */
  joinPart(phoneNumber: string, part: TextPart, text: string): Promise<string | null>;
  dropParts(phoneNumber: string): Promise<void>;
  /**
   * Forgets parts whose others never came, and replies of before `before`. Returns how many; less than the limit: all.
   */
  prune(before: { readonly parts: number; readonly replies: number }, limit: number): Promise<number>;
}
