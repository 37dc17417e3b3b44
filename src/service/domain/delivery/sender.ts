import type { DueMessage, ErasedSurvey, FrozenMessage, OutgoingChannel } from "./queue-rows.ts";
import type { AttemptRow } from "./rows.ts";

export type AttemptFacts = Omit<AttemptRow, "n" | "at" | "outcome" | "message">;

export type DeliveryOutcome =
  | { readonly kind: "sent" }
  /** Permanently rejected because of the address, with proof: marks the person as bounced. */
  | { readonly kind: "bounced" }
  /** Temporarily rejected: retried after this many seconds. Counts as an attempt. See `retryOrGiveUp`. */
  | { readonly kind: "retry"; readonly delaySeconds: number }
  /** Given up through no fault of the recipient: the person isn't affected. */
  | { readonly kind: "failed"; readonly reason: string }
  /** Waits for the operator. Doesn't count as an attempt. */
  | { readonly kind: "held"; readonly reason: string }
  /** Transmitted without a reply, so it may have arrived. */
  | { readonly kind: "unknown" }
  /**
   * The sender's problem: due again after this many seconds, without counting as an attempt. With a reason,
   * `releasePutOff` can release it sooner. With `isEarly`, the message's age counts from the new time, unless it was
   * attempted.
   */
  | { readonly kind: "released"; readonly delaySeconds: number; readonly reason?: string; readonly isEarly?: true }
  /** No longer wanted. `hasStopped`: the provider reports that the number has opted out. */
  | { readonly kind: "cancelled"; readonly reason: string; readonly hasStopped?: boolean };

export type OutcomeKind = DeliveryOutcome["kind"];

/** Nothing is logged without `attempt`. `segments` counts a text message that was, or may have been, sent. */
export type DeliveryResult = DeliveryOutcome & { readonly attempt?: AttemptFacts | null; readonly segments?: number };

/** Used by senders during delivery. If the store fails, both functions reject, and the message must not be sent. */
export interface DeliveryProgress {
  /** Called before `MAIL FROM`. If false, the message is already settled, and the result of `deliver` is ignored. */
  readonly mayStillSend: () => Promise<boolean>;
  /** Marks the message durably, before the final dot. Rejects with ClaimLostError if the dot must not be sent. */
  readonly transmitting: (frozen?: FrozenMessage) => Promise<void>;
  /** Aborted when the service stops and won't wait any longer. */
  readonly signal: AbortSignal;
}

/** The claim expired or the service is stopping, so the message must not be sent. */
export class ClaimLostError extends Error {
  override readonly name = "ClaimLostError";
}

export interface MessageSender {
  readonly name: string;
  readonly channels: readonly OutgoingChannel[];
  /** How many messages the sender can send in this many seconds, including current ones; 0 while it can't send. */
  readonly capacity: (seconds: number) => number;
  /**
   * True if the sender calls `mayStillSend` before it starts each message. At shutdown, messages that haven't started
   * can then be released.
   */
  readonly asksFirst?: boolean;
  readonly resume?: () => void;
  /** Called concurrently, up to the capacity. If it rejects, the message is released, or `unknown` if it was marked. */
  readonly deliver: (due: DueMessage, progress: DeliveryProgress) => Promise<DeliveryResult>;
}

export interface MessageFiles {
  /** Deletes messages that were cancelled or whose person was deleted. */
  readonly erase: (surveys: readonly ErasedSurvey[]) => Promise<ErasedFiles>;
}

export interface ErasedFiles {
  readonly removed: number;
  readonly surveys: readonly ErasedSurvey[];
}
