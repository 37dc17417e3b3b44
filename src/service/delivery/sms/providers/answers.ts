import { isJsonObject, type Json, type JsonObject } from "../../../../contract/json.ts";
import { type Meaning, NOTHING_MEANT } from "../../carrier.ts";

export interface GatewayMeaning extends Meaning {
  readonly serverId: string | null;
  readonly code: string | null;
}

export const PLAIN = { ...NOTHING_MEANT, serverId: null, code: null } as const;
export const FAILED = { ...PLAIN, outcome: "failed", strike: true } as const;
/** Wrong credentials or certificate, regardless of the recipient. */
export const HELD = { ...PLAIN, outcome: "held", sender: "breaker", isBeforeRecipient: true } as const;
export const RETRY = { ...PLAIN, outcome: "retry", sender: "back-off" } as const;
export const BAD_NUMBER = { ...PLAIN, outcome: "bounced", hasAddressCode: true } as const;
export const STOPPED = { ...PLAIN, outcome: "bounced", hasStopped: true } as const;
/** The message may have been sent, but a gateway with such responses gets no more. */
export const NONSENSE = { ...PLAIN, outcome: "unknown", sender: "breaker" } as const;

export function sentAs(id: string): GatewayMeaning {
  return { ...PLAIN, outcome: "sent", serverId: id === "" ? null : id };
}

export function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function asText(value: Json | undefined): string | null {
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}

export function anyCode(body: Json | undefined): string | null {
  const { code, error, errors } = asObject(body);
  const [first] = Array.isArray(errors) ? errors : [];
  return asText(code) ?? asText(asObject(error).code) ?? asText(asObject(first).code);
}
