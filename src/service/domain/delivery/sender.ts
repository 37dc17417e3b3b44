import type { DueMessage, ErasedSurvey, FrozenMessage, OutgoingChannel } from "./queue-rows.ts";
import type { AttemptRow } from "./rows.ts";

/** The reply at an attempt's last step. */
export type AttemptFacts = Omit<AttemptRow, "n" | "at" | "outcome">;

export type DeliveryOutcome =
  | { readonly kind: "sent" }
  /** The address permanently rejected it, with proof: marks the person. */
  | { readonly kind: "bounced" }
  /** Temporarily rejected: retried after this many seconds, and counted as an attempt. See `retryOrGiveUp`. */
  | { readonly kind: "retry"; readonly delaySeconds: number }
  /** Given up, but no one is to blame: the person isn't affected. */
  | { readonly kind: "failed"; readonly reason: string }
  /** Waits for the operator. Doesn't count as an attempt. */
  | { readonly kind: "held"; readonly reason: string }
  /** Transmitted without a reply, so it may have arrived. */
  | { readonly kind: "unknown" }
  /**
   * The sender's problem, not the message's: due again after this many seconds, and not counted as an attempt. With a
   * reason, `releasePutOff` can release it sooner, if it waits at most two days. `isEarly` means that a window or limit
   * doesn't allow it sooner; its age counts from then, unless it was attempted before.
   */
  | { readonly kind: "released"; readonly delaySeconds: number; readonly reason?: string; readonly isEarly?: true }
  /** No longer wanted. `hasStopped`: the provider reports that the number has opted out. */
  | { readonly kind: "cancelled"; readonly reason: string; readonly hasStopped?: boolean };

export type OutcomeKind = DeliveryOutcome["kind"];

/** Without `attempt`, nothing is logged. `segments` counts a text that was sent, or may have been. */
export type DeliveryResult = DeliveryOutcome & { readonly attempt?: AttemptFacts | null; readonly segments?: number };

/** Called by a sender during delivery. Both functions reject if the store fails; the message must not be sent then. */
export interface DeliveryProgress {
  /**
   * Whether the message may still be sent; called before `MAIL FROM`. If false, it is already settled and the result of
   * `deliver` is ignored.
   */
  readonly mayStillSend: () => Promise<boolean>;
  /**
   * Marks the message durably; the final dot must follow only after that. An unmarked message can't have been sent; a
   * marked one without a reply is `unknown`. What is frozen here is returned as `DueMessage.frozen`. Rejects with
   * ClaimLostError if the claim is lost: the dot must not be sent.
   */
  readonly transmitting: (frozen?: FrozenMessage) => Promise<void>;
  /** Aborted when the service stops and no longer waits. */
  readonly signal: AbortSignal;
}

/** The claim expired or the service ended, so the message must not be sent. */
export class ClaimLostError extends Error {
  override readonly name = "ClaimLostError";
}

export interface MessageSender {
  readonly name: string;
  readonly channels: readonly OutgoingChannel[];
  /**
   * How many messages the sender wants claimed, including current ones: at most as many as it can send in this many
   * seconds. 0 while it sends nothing; it wakes the scheduler when that changes.
   */
  readonly capacity: (seconds: number) => number;
  /** True if every message calls `mayStillSend` before it begins, so that waiting ones can be taken back. */
  readonly asksFirst?: boolean;
  readonly resume?: () => void;
  /**
   * Delivers one message; called concurrently, up to the capacity. A rejection is reported, and the message is put
   * back, or `unknown` if it was marked.
   */
  readonly deliver: (due: DueMessage, progress: DeliveryProgress) => Promise<DeliveryResult>;
}

export interface MessageFiles {
  /** Deletes messages that were cancelled, or whose person was deleted. */
  readonly erase: (surveys: readonly ErasedSurvey[]) => Promise<ErasedFiles>;
}

export interface ErasedFiles {
  readonly removed: number;
  readonly surveys: readonly ErasedSurvey[];
}
