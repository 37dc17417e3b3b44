/** Settings of gateways for `serve`, separate from the providers so that help doesn't have to load those. */

/** These charge per message, so nothing is sent until sender, countries and credentials are set. */
export const PAID_FORMATS = ["twilio", "vonage", "telnyx"] as const;

export const SMS_FORMATS = ["json", "form", ...PAID_FORMATS] as const;
export type SmsFormat = (typeof SMS_FORMATS)[number];

export const SMS_FIELDS = ["to", "text", "from", "id"] as const;
export type SmsField = (typeof SMS_FIELDS)[number];

/** A survey links to its page (`link`), or people answer by text message (`conversation`). */
export const SMS_MODES = ["link", "conversation"] as const;
export type SmsMode = (typeof SMS_MODES)[number];
