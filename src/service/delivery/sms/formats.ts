/** The settings of a gateway that `serve` offers. */

export const SMS_FIELDS = ["to", "text", "from", "id"] as const;
export type SmsField = (typeof SMS_FIELDS)[number];

/** A survey leads to its page (`link`), or people answer by texting back (`conversation`). */
export const SMS_MODES = ["link", "conversation"] as const;
export type SmsMode = (typeof SMS_MODES)[number];
