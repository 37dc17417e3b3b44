import type { AttemptFacts, DeliveryProgress } from "../domain/delivery/sender.ts";

export interface CarrierReply extends AttemptFacts {
  /** At most 500 characters on one line. */
  readonly text: string;
}

/** At these stages the recipient hasn't been named yet, so a refusal is about the sender. */
export const SENDER_STAGES: ReadonlySet<string> = new Set(["connect", "ehlo", "starttls", "auth", "mail-from"]);

export type CarrierResult<Reply extends CarrierReply> =
  | { readonly kind: "accepted"; readonly reply: Reply }
  | { readonly kind: "refused"; readonly reply: Reply }
  /** The connection was lost or timed out. After the final dot, the message may have arrived. */
  | { readonly kind: "broken"; readonly reply: Reply; readonly isPastDot: boolean }
  | { readonly kind: "unsendable"; readonly reply: Reply }
  | { readonly kind: "withdrawn" };

export type CarrierProgress = Pick<DeliveryProgress, "mayStillSend" | "transmitting">;

export interface SendRate {
  readonly count: number;
  readonly perSeconds: number;
}

export interface Carrier<Message, Reply extends CarrierReply> {
  send(message: Message, progress: CarrierProgress): Promise<CarrierResult<Reply>>;
  close(): Promise<void>;
}

export interface Meaning {
  readonly outcome: "sent" | "retry" | "bounced" | "failed" | "held" | "unknown";
  /** `hours` is a quota. `breaker` is a policy or login rejection; three in a row stop the sender. */
  readonly sender: "none" | "back-off" | "hours" | "breaker";
  /** Rejected content, or an error of our own; three in a row also stop the sender. */
  readonly strike: boolean;
  /** The quota may be the recipient's, so it counts only once several domains have reported one. */
  readonly needsOthers: boolean;
  readonly afterSeconds: number | null;
  /** The enhanced code is about the address, such as 5.1.1. */
  readonly hasAddressCode: boolean;
  /** Only the recipient's domain backs off, not the sender. */
  readonly backsDomainOff: boolean;
  /** The message was rejected regardless of the recipient, even though its stage doesn't show that. */
  readonly isBeforeRecipient?: boolean;
  /** The number has opted out at the provider. */
  readonly hasStopped?: boolean;
}

export const NOTHING_MEANT = {
  sender: "none",
  strike: false,
  needsOthers: false,
  afterSeconds: null,
  hasAddressCode: false,
  backsDomainOff: false,
} as const;
