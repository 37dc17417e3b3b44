/** The results of a rehearsal. */

/** A survey or a reminder that would be sent. */
export interface RehearsedMessage {
  readonly person_id: string;
  readonly email: string | null;
  readonly phone_number: string | null;
  readonly kind: "survey" | "reminder";
  readonly channel: "email" | "sms";
  /** Null outside Autopilot. */
  readonly platform: "email" | "sms" | null;
  readonly sent_at: number;
}

/** A survey or a reminder that was held back at this moment. */
export interface Held {
  readonly at: number;
  readonly why: "throttled" | "unsubscribed" | "bounced" | "limit" | "window";
}

export interface Rehearsal {
  readonly since: number;
  readonly until: number;
  /** IANA name of the project's zone. */
  readonly zone: string;
  readonly messages: readonly RehearsedMessage[];
  readonly held: readonly Held[];
  /** Members of Autopilot who have no address for it. */
  readonly withoutAddress: number;
}
