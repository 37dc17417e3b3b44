import { unixSeconds } from "../../runtime/clock.ts";
import type { DueEvent, WebhookRow } from "../domain/ports.ts";
import type { AttemptEnd } from "../domain/webhooks/attempts.ts";
import { signedHeaders } from "./sign.ts";
import { type Destination, type EndpointOptions, EndpointTransport } from "./transport.ts";

/** Null if `signal` was aborted. */
export async function postOnce(
  options: EndpointOptions,
  target: Destination,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
): Promise<AttemptEnd | null> {
  const transport = new EndpointTransport(options, 1);
  try {
    return await transport.post(target, headers, body, signal);
  } finally {
    transport.close();
  }
}

/** Sends an event immediately, even to a disabled endpoint, without storing it. */
export async function sendTestEvent(
  options: EndpointOptions,
  webhook: WebhookRow,
  event: Pick<DueEvent, "eventId" | "body">,
): Promise<AttemptEnd> {
  const headers = signedHeaders(webhook, event, unixSeconds(options.clock));
  const end = await postOnce(options, webhook, headers, event.body, new AbortController().signal);
  return end ?? { status: null, ms: 0, text: "no answer", retryAfter: null };
}
