/** Carries messages to a mail server or a gateway, each at most once, and what the other side's replies mean. */
import type { AttemptFacts, DeliveryProgress } from "../domain/delivery/sender.ts";

/** The other side's words at the last step. */
export interface CarrierReply extends AttemptFacts {
  readonly text: string;
}

/** The end of the transmission of one message. */
export type CarrierResult<Reply extends CarrierReply> =
  | { readonly kind: "accepted"; readonly reply: Reply }
  /** The other side said no. */
  | { readonly kind: "refused"; readonly reply: Reply }
  /** The connection or the wait for it ended. Past the dot the message may have arrived. */
  | { readonly kind: "broken"; readonly reply: Reply; readonly isPastDot: boolean }
  /** It can't be carried at all: nothing was sent, and nobody is to blame. */
  | { readonly kind: "unsendable"; readonly reply: Reply }
  /** `mayStillSend` said no. */
  | { readonly kind: "withdrawn" };

export type CarrierProgress = Pick<DeliveryProgress, "mayStillSend" | "transmitting">;

/** Messages that may leave in a second, a minute or an hour, whatever the number of connections. */
export interface SendRate {
  readonly count: number;
  readonly perSeconds: number;
}

export interface Carrier<Message, Reply extends CarrierReply> {
  send(message: Message, progress: CarrierProgress): Promise<CarrierResult<Reply>>;
  close(): Promise<void>;
}

/** The meaning of a reply for the message and for the sender as a whole. */
export interface Meaning {
  readonly outcome: "sent" | "retry" | "bounced" | "failed" | "held" | "unknown";
  /** `hours` is a quota; `breaker` is a refusal of policy or login, of which three in a row stop the sender. */
  readonly sender: "none" | "back-off" | "hours" | "breaker";
  /** A refusal of content, or a defect of ours: three in a row stop the sender too. */
  readonly strike: boolean;
  /** A quota that may be the recipient's: it counts once several domains have spoken of one. */
  readonly needsOthers: boolean;
  /** The time that the server asked to wait. */
  readonly afterSeconds: number | null;
  /** The reply names the address, such as 5.1.1. */
  readonly hasAddressCode: boolean;
  /** The domain of recipients is put off, and not the sender. */
  readonly backsDomainOff: boolean;
  /** It was refused before the recipient mattered, though its stage doesn't say so. */
  readonly isBeforeRecipient?: boolean;
  /** The number wants no more messages: the provider keeps it from getting them. */
  readonly hasStopped?: boolean;
}

/** Of a reply that says nothing of the sender. */
export const NOTHING_MEANT = {
  sender: "none",
  strike: false,
  needsOthers: false,
  afterSeconds: null,
  hasAddressCode: false,
  backsDomainOff: false,
} as const;
