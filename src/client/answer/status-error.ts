import type { HttpResponse } from "../../contract/http.ts";
import { READ_ONLY_REFUSAL } from "../../contract/key-access.ts";
import type { Json } from "../../contract/json.ts";
import { ERROR_BODY_LIMIT, readBody, decodeBody } from "./body.ts";
import type { CallName, ClientError } from "../errors/client-error.ts";
import {
  AuthError,
  RateLimitedError,
  ReadOnlyKeyError,
  RedirectError,
  RefusedError,
  ServiceError,
  type StatusFacts,
} from "../errors/call-errors.ts";
import type { ReadingOptions } from "./reply.ts";
import type { Redact } from "../trace/redact.ts";
import { oneLine, readWords } from "./words.ts";

/** If the body is truncated, uses what has arrived. */
export async function readErrorText(response: HttpResponse, { signal }: ReadingOptions): Promise<string> {
  const body = await readBody(response, ERROR_BODY_LIMIT, signal);
  try {
    return await decodeBody(body.bytes, response.headers["content-encoding"], ERROR_BODY_LIMIT);
  } catch {
    return Buffer.from(body.bytes).toString("latin1");
  }
}

export function errorForStatus(
  response: Pick<HttpResponse, "status" | "headers">,
  text: string,
  retryAfterMs: number | null,
  { call, redact }: { readonly call: CallName; readonly redact: Redact },
): ClientError {
  const { status } = response;
  const words = readWords(redact(text));
  // JSON escapes can hide the key from the first redaction.
  const said = words.message === null ? "" : ` "${redact(words.message)}"`;
  const facts: StatusFacts = { call, status, details: words.details };
  if (status >= 300 && status < 400) return redirectError(response, facts, redact);
  if (status === 403 && words.message?.includes(READ_ONLY_REFUSAL) === true) return new ReadOnlyKeyError(facts);
  if (status === 401 || status === 403)
    return new AuthError(`the service refused the key with ${status}${said}`, facts);
  if (status === 429)
    return new RateLimitedError(`the service is rate limiting (429${said})${waitAsked(retryAfterMs)}`, {
      ...facts,
      retryAfterMs,
    });
  if (status >= 400 && status < 500 && status !== 408)
    return new RefusedError(`the service answered ${status}${said}`, facts);
  return new ServiceError(`the service answered ${status}${said}${waitAsked(retryAfterMs)}`, {
    ...facts,
    retryAfterMs,
  });
}

function redirectError(response: Pick<HttpResponse, "headers">, facts: StatusFacts, redact: Redact): RedirectError {
  const location = response.headers["location"];
  const target = location === undefined ? null : shortTarget(redact(location), facts.call.url);
  const to = target === null ? "" : ` to ${target}`;
  return new RedirectError(`refused to follow a redirect (${facts.status})${to}`, {
    ...facts,
    details: null as Json,
    location: target,
  });
}

function shortTarget(location: string, base: string): string {
  if (!URL.canParse(location, base)) return oneLine(location, 200) ?? "";
  const { origin, pathname, href } = new URL(location, base);
  return origin === "null" ? (oneLine(href.replace(/[?#].*$/s, ""), 200) ?? "") : `${origin}${pathname}`;
}

function waitAsked(retryAfterMs: number | null): string {
  return retryAfterMs === null ? "" : ` and asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
}
