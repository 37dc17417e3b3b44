/** The rows of text messages besides the surveys themselves. See `Store` in `../ports.ts`. */
import type { ReplyKind } from "../delivery/queue-rows.ts";
import type { Project } from "../inputs.ts";

export interface TextedSurvey {
  readonly project: Project;
  readonly requestId: number;
  readonly personId: number;
  readonly token: string;
  readonly from: string | null;
}

/** One of several messages that carry a long text. */
export interface TextPart {
  readonly reference: string;
  readonly number: number;
  readonly total: number;
}

export interface TextRows {
  /** Surveys texted to this number since then, or their reminders, in all projects; the newest first, some at most. */
  surveysTo(phoneNumber: string, since: number): Promise<readonly TextedSurvey[]>;
  /** What was texted about a survey: itself, its reminder and replies. */
  sentAbout(survey: TextedSurvey): Promise<readonly string[]>;
  addReply(survey: TextedSurvey, reply: { readonly kind: ReplyKind; readonly score: number | null }): Promise<void>;
  /** When such a reply to the survey's person was last made; null for never. */
  lastReplyAt(survey: TextedSurvey, kind: ReplyKind): Promise<number | null>;
  dropReplies(survey: TextedSurvey): Promise<void>;
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
