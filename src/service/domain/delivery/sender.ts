/** The port to what carries messages out, and how a delivery may end. */
import type { DueMessage, ErasedSurvey, FrozenMessage, OutgoingChannel } from "./queue-rows.ts";
import type { AttemptRow } from "./rows.ts";

/** The reply at the last step of one attempt. */
export type AttemptFacts = Omit<AttemptRow, "n" | "at" | "outcome">;

export type DeliveryOutcome =
  | { readonly kind: "sent" }
  /** The person's address refused it for good, by evidence: marks the person. */
  | { readonly kind: "bounced" }
  /** Refused for now: due again after so many seconds, an attempt of the message. See `retryOrGiveUp`. */
  | { readonly kind: "retry"; readonly delaySeconds: number }
  /** Given up without blame: the person stays as they are. */
  | { readonly kind: "failed"; readonly reason: string }
  /** Waits for the operator, who releases it; not an attempt of the message. */
  | { readonly kind: "held"; readonly reason: string }
  /** Transmitted, and no reply came: it may have arrived. */
  | { readonly kind: "unknown" }
  /**
   * The sender's trouble, not the message's: due again after so many seconds, and no attempt is counted. With a reason
   * `releasePutOff` makes it due sooner; of at most two days. `isEarly`: a window or a limit lets it leave only then,
   * and its age begins then, unless it was tried before.
   */
  | { readonly kind: "released"; readonly delaySeconds: number; readonly reason?: string; readonly isEarly?: true }
  /** No longer wanted; `hasStopped`: the number has opted out of text messages, as the other side says. */
  | { readonly kind: "cancelled"; readonly reason: string; readonly hasStopped?: boolean };

export type OutcomeKind = DeliveryOutcome["kind"];

/** `attempt` absent or null: nothing is logged. `segments` are those of a text message that went out, or may have. */
export type DeliveryResult = DeliveryOutcome & { readonly attempt?: AttemptFacts | null; readonly segments?: number };

/**
 * The questions and notices of a sender on the way. Both reject when the store fails; the message must not go out then.
 */
export interface DeliveryProgress {
  /**
   * True when the message may still go out; asked before `MAIL FROM`. False: it is settled already, and the result of
   * `deliver` is ignored.
   */
  readonly mayStillSend: () => Promise<boolean>;
  /**
   * Marks the message durably; only then may the final dot be written. Without the mark the message cannot have
   * gone, with it and no reply it is `unknown`. What is frozen here comes back as `DueMessage.frozen`.
   * Rejects with ClaimLostError when the claim is lost: the dot must not follow.
   */
  readonly transmitting: (frozen?: FrozenMessage) => Promise<void>;
  /** Aborted when the service ends and waits no longer. */
  readonly signal: AbortSignal;
}

/** The claim ran out, or the service ended: the message must not go out. */
export class ClaimLostError extends Error {
  override readonly name = "ClaimLostError";
}

export interface MessageSender {
  /** By which its `SenderState` is kept. */
  readonly name: string;
  /** The channels that it carries. */
  readonly channels: readonly OutgoingChannel[];
  /**
   * The number of messages that it wants to have claimed, the present ones included: at most as many as leave within so
   * many seconds. 0 while it sends nothing; it has the scheduler woken when that changes.
   */
  readonly capacity: (seconds: number) => number;
  /** Every message asks `mayStillSend` before it begins, so that one that waits can be taken back. Absent: no. */
  readonly asksFirst?: boolean;
  /** The operator asks it to try again now, whatever it waits for. */
  readonly resume?: () => void;
  /**
   * Carries one message out; called for as many at a time as there is room for. What it rejects with is reported, and
   * the message is put back, or `unknown` once it was marked.
   */
  readonly deliver: (due: DueMessage, progress: DeliveryProgress) => Promise<DeliveryResult>;
}

/** A place where messages are kept as files. */
export interface MessageFiles {
  /** Removes those of messages whose person is gone, or which were cancelled. */
  readonly erase: (surveys: readonly ErasedSurvey[]) => Promise<ErasedFiles>;
}

export interface ErasedFiles {
  /** The number of files. */
  readonly removed: number;
  /** The surveys that had some. */
  readonly surveys: readonly ErasedSurvey[];
}
