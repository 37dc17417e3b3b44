import { parseJson } from "../../../contract/json.ts";
import {
  FAILED,
  type GatewayMeaning,
  type GatewaySettings,
  HELD,
  PLAIN,
  readBasic,
  RETRY,
  type SmsMessage,
} from "./providers/provider.ts";
import type { SmsFormat } from "./formats.ts";
import { SMS_PROVIDERS } from "./providers/providers.ts";

export interface SmsGateway extends GatewaySettings {
  readonly url: string;
  readonly format: SmsFormat;
}

export function canBeTexted(from: string | null): boolean {
  return from === null || /^(?:[a-z]+:)?[+\d][\d\s().-]*$|^MG[\da-f]{32}$/i.test(from);
}

export function toGatewayRequest(gateway: SmsGateway, message: SmsMessage) {
  const { format, header } = gateway;
  const { body, toFields, credentials } = SMS_PROVIDERS[format];
  const fields = toFields(gateway, message);
  const type = body === "form" ? "application/x-www-form-urlencoded" : "application/json";
  const secret = header === null || credentials === "fields" ? {} : { [header.name.toLowerCase()]: header.value };
  return {
    headers: { "content-type": type, "idempotency-key": message.id, ...secret },
    body: body === "form" ? new URLSearchParams(fields).toString() : JSON.stringify(fields),
  };
}

export interface GatewayAnswer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: number | null;
}

/** A proxy sends this if it got no response from the gateway, so the message may have been sent. */
const GATEWAY_TIMEOUT = 504;

const SENDER_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 407, 410, 415]);
const LATER_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

export function readGatewayAnswer(format: SmsFormat, { status, text, retryAfter }: GatewayAnswer): GatewayMeaning {
  const { accepted, codeOf, byCode } = SMS_PROVIDERS[format];
  const body = parseJson(text);
  if (status >= 200 && status < 300) return accepted(body, text);
  const code = codeOf(body);
  const mapped = code === null ? undefined : byCode[code];
  if (mapped !== undefined) return { ...mapped, code, afterSeconds: mapped.outcome === "retry" ? retryAfter : null };
  if (LATER_STATUSES.has(status)) return { ...RETRY, code, afterSeconds: retryAfter };
  if (status === GATEWAY_TIMEOUT) return { ...PLAIN, outcome: "unknown", sender: "back-off", code };
  if (status >= 500) return { ...RETRY, code, afterSeconds: retryAfter };
  if (SENDER_STATUSES.has(status) || status < 400) return { ...HELD, code };
  return { ...FAILED, code };
}

export function maskSecret(text: string, { header }: Pick<SmsGateway, "header">): string {
  if (header === null) return text;
  const { user, password } = readBasic(header.value);
  const secrets = [header.value, ...header.value.split(/\s+/).slice(1), password, user];
  return secrets.filter((secret) => secret.length >= 4).reduce((rest, secret) => rest.replaceAll(secret, "***"), text);
}
