import type { Redact } from "./redact.ts";
import { oneLine } from "../answer/words.ts";

export interface TraceStyle {
  readonly bodies: boolean;
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

/** Prints only the headers in HEADERS_SHOWN, because others might contain credentials. */
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

/** Removes the key, which the server may have echoed. */
export function redactEvent(event: TraceEvent, redact: Redact): TraceEvent {
  if (event.kind === "failure") return { ...event, message: redact(event.message) };
  const headers = Object.fromEntries(Object.entries(event.headers).map(([name, value]) => [name, redact(value)]));
  const body = event.body === null ? null : redact(event.body);
  return event.kind === "request" ? { ...event, url: redact(event.url), headers, body } : { ...event, headers, body };
}

const MASK = "***";

const PERSONAL_NAME = '(?=[^"\\\\]*(?:email|e-mail|phone|name|comment|text|free_response))[^"\\\\]*';
const PERSONAL_FIELD = new RegExp(`("${PERSONAL_NAME}"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"?`, "gi");
/** Without the lookbehind, a long word takes quadratic time. */
const EMAIL = /(?<![^\s"'<>@=&?/,;:()])[^\s"'<>@=&?/,;:()]+?(?:@|%40)[^\s"'<>@=&?/,;:()]+/gi;
const PHONE = /(?:\+|%2B)\d{6,15}\b/gi;
const PERSONAL_PARAMETER = /email|phone|name/i;
const PARAMETER = /([?&][^\s=&?"'<>]*=)[^\s"'<>&;]*/g;

export function maskPersonalData(text: string): string {
  return text
    .replace(PERSONAL_FIELD, `$1"${MASK}"`)
    .replace(PARAMETER, (whole, name: string) => (PERSONAL_PARAMETER.test(name) ? `${name}${MASK}` : whole))
    .replace(EMAIL, `${MASK}@${MASK}`)
    .replace(PHONE, `+${MASK}`);
}

export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return maskPersonalData(url);
  const { origin, pathname, search } = new URL(url);
  const pairs = search === "" ? [] : search.slice(1).split("&");
  const query = pairs.map((pair) => {
    const [name = "", value] = pair.split(/=(.*)/s);
    return value === undefined
      ? pair
      : `${name}=${PERSONAL_PARAMETER.test(name) ? MASK : maskPersonalData(decoded(value))}`;
  });
  return `${origin}${maskPersonalData(decoded(pathname))}${query.length === 0 ? "" : `?${query.join("&")}`}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export type TraceEvent =
  | {
      readonly kind: "request";
      /** Counts requests in this process, starting at 1. */
      readonly number: number;
      readonly method: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | null;
    }
  | {
      readonly kind: "response";
      readonly number: number;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly durationMs: number;
      readonly body: string | null;
    }
  | { readonly kind: "failure"; readonly number: number; readonly message: string; readonly durationMs: number };

export type Trace = (event: TraceEvent) => void;

interface WaitFacts {
  readonly waitMs: number;
  readonly reason: string;
  /** Identical for all failures of the same kind. */
  readonly cause: string;
  /** False if this pause was already reported. */
  readonly isNews: boolean;
}

export type Wait =
  /** `repeat` counts from 1 up to `retries`. */
  | (WaitFacts & { readonly kind: "retry"; readonly repeat: number; readonly retries: number })
  /** A write's response was lost; look-ups continue for up to `waitMs`. */
  | (WaitFacts & { readonly kind: "check" });

/** The returned function is called when the wait ends. */
export type OnWait = (wait: Wait) => (() => void) | void;
