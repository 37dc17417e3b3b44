export interface RehearsedMessage {
  readonly person_id: string;
  readonly email: string | null;
  readonly phone_number: string | null;
  readonly kind: "survey" | "reminder";
  readonly channel: "email" | "sms";
  readonly platform: "email" | "sms" | null;
  readonly sent_at: number;
}

export interface Held {
  readonly at: number;
  readonly why: "throttled" | "unsubscribed" | "bounced" | "limit" | "window";
}

export interface Rehearsal {
  readonly since: number;
  readonly until: number;
  readonly zone: string;
  readonly messages: readonly RehearsedMessage[];
  readonly held: readonly Held[];
  /** Number of Autopilot members without an email address or phone number for their channel. */
  readonly withoutAddress: number;
}
