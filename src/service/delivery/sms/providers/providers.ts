/** The table of SMS providers: `docs/architecture.md` tells how to add one. */
import type { SigningGateway } from "../../../domain/delivery/hook-secrets.ts";
import { FORM_GATEWAY, JSON_GATEWAY } from "./generic.ts";
import type { IncomingForm, SmsProvider } from "./provider.ts";
import { TELNYX } from "./telnyx.ts";
import { TWILIO } from "./twilio.ts";
import { VONAGE } from "./vonage.ts";

export type SmsFormat = "json" | "form" | SigningGateway;

export const SMS_PROVIDERS: Readonly<Record<SmsFormat, SmsProvider>> = {
  json: JSON_GATEWAY,
  form: FORM_GATEWAY,
  twilio: TWILIO,
  vonage: VONAGE,
  telnyx: TELNYX,
};

export const SMS_FORMATS = Object.keys(SMS_PROVIDERS) as readonly SmsFormat[];

export const PAID_FORMATS: readonly SmsFormat[] = SMS_FORMATS.filter((format) => SMS_PROVIDERS[format].isPaid);

/** The providers that sign the texts that they bring, by name. */
export const INCOMING_FORMS: ReadonlyMap<SigningGateway, IncomingForm> = new Map(
  SMS_FORMATS.flatMap((format): [SigningGateway, IncomingForm][] => {
    const { incoming } = SMS_PROVIDERS[format];
    return incoming === null ? [] : [[format as SigningGateway, incoming]];
  }),
);
