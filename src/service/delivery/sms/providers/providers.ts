import type { SigningGateway } from "../../../domain/delivery/hook-secrets.ts";
import { SMS_FORMATS, type SmsFormat } from "../formats.ts";
import { FORM_GATEWAY, JSON_GATEWAY } from "./generic.ts";
import type { IncomingForm, SmsProvider } from "./provider.ts";
import { TELNYX } from "./telnyx.ts";
import { TWILIO } from "./twilio.ts";
import { VONAGE } from "./vonage.ts";

export const SMS_PROVIDERS: Readonly<Record<SmsFormat, SmsProvider>> = {
  json: JSON_GATEWAY,
  form: FORM_GATEWAY,
  twilio: TWILIO,
  vonage: VONAGE,
  telnyx: TELNYX,
};

export const INCOMING_FORMS: ReadonlyMap<SigningGateway, IncomingForm> = new Map(
  SMS_FORMATS.flatMap((format): [SigningGateway, IncomingForm][] => {
    const { incoming } = SMS_PROVIDERS[format];
    return incoming === null ? [] : [[format as SigningGateway, incoming]];
  }),
);
