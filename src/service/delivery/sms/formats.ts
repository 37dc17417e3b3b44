/** What `serve` may be told of a gateway. */

export const SMS_FORMATS = ["json", "form", "twilio", "vonage", "telnyx"] as const;
export type SmsFormat = (typeof SMS_FORMATS)[number];
/** Providers that charge for each message: nothing may leave until sender, countries and credentials are named. */
export const PAID_FORMATS: readonly SmsFormat[] = ["twilio", "vonage", "telnyx"];
/** Providers that see STOP, START and HELP themselves, and answer them. */
export const ANSWERING_FORMATS: readonly SmsFormat[] = ["twilio", "telnyx"];

/** What a field of a message may be called otherwise. */
export const SMS_FIELDS = ["to", "text", "from", "id"] as const;
export type SmsField = (typeof SMS_FIELDS)[number];

/** Whether a survey leads to its page, or is answered by texting back. */
export const SMS_MODES = ["link", "conversation"] as const;
export type SmsMode = (typeof SMS_MODES)[number];

export function readBasic(value: string): { readonly user: string; readonly password: string } {
  const encoded = /^Basic\s+(\S+)$/i.exec(value)?.[1] ?? "";
  const [, user = "", password = ""] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, "base64").toString("utf8")) ?? [];
  return { user, password };
}
