import { maskPersonalData, maskUrl } from "./mask.ts";
import type { Redact } from "./redact.ts";
import type { TraceEvent } from "./trace-event.ts";
import { oneLine } from "../answer/words.ts";

export interface TraceStyle {
  /** Bodies too (`--verbose --verbose`). */
  readonly bodies: boolean;
  /** Addresses, phone numbers and names as they are. */
  readonly showPersonalData: boolean;
}

const HEADERS_SHOWN = new Set([
  "accept",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "link",
  "location",
  "retry-after",
  "server",
  "user-agent",
  "via",
  "www-authenticate",
  "x-request-id",
  "x-runtime",
]);
const BODY_SHOWN_MAX = 20_000;

/** The lines of `--verbose` for one event; only allow-listed headers, so that no credential is among them. */
export function formatTrace(event: TraceEvent, style: TraceStyle): string[] {
  const mask = style.showPersonalData ? (text: string): string => text : maskPersonalData;
  const maskAddress = style.showPersonalData ? (text: string): string => text : maskUrl;
  if (event.kind === "failure")
    return [`! ${event.number} ${line(mask(event.message))} after ${Math.round(event.durationMs)} ms`];
  const sign = event.kind === "request" ? ">" : "<";
  return [
    event.kind === "request"
      ? `> ${event.number} ${event.method} ${line(maskAddress(event.url))}`
      : responseLine(event),
    ...headerLines(sign, event.headers, (name, value) => (name === "location" ? maskAddress(value) : mask(value))),
    ...(style.bodies && event.body !== null && event.body !== ""
      ? [`${sign}   ${line(mask(event.body.slice(0, BODY_SHOWN_MAX)))}`]
      : []),
  ];
}

function responseLine(event: Extract<TraceEvent, { kind: "response" }>): string {
  const requestId = event.headers["x-request-id"];
  const size = event.body === null ? "unreadable body" : `${Buffer.byteLength(event.body)} bytes`;
  const id = requestId === undefined ? "" : `, request id ${line(requestId)}`;
  return `< ${event.number} ${event.status} in ${Math.round(event.durationMs)} ms, ${size}${id}`;
}

function headerLines(
  sign: string,
  headers: Readonly<Record<string, string>>,
  mask: (name: string, value: string) => string,
): string[] {
  return Object.entries(headers)
    .filter(([name]) => HEADERS_SHOWN.has(name))
    .map(([name, value]) => `${sign}   ${name}: ${line(mask(name, value))}`);
}

function line(text: string): string {
  return oneLine(text, BODY_SHOWN_MAX) ?? "";
}

/** The event without the key, wherever the service may have echoed it. */
export function redactEvent(event: TraceEvent, redact: Redact): TraceEvent {
  if (event.kind === "failure") return { ...event, message: redact(event.message) };
  const headers = Object.fromEntries(Object.entries(event.headers).map(([name, value]) => [name, redact(value)]));
  const body = event.body === null ? null : redact(event.body);
  return event.kind === "request" ? { ...event, url: redact(event.url), headers, body } : { ...event, headers, body };
}
