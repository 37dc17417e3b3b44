import type { Exchange, HttpRequest, HttpResponse } from "../../contract/http.ts";
import type { Clock } from "../../runtime/clock.ts";
import { BadReplyError, ConnectionError, TimeoutError } from "../errors/call-errors.ts";
import { ClientError, nameCall, type CallName } from "../errors/client-error.ts";
import { readAnswer, type AnswerText, type ReplyReader } from "../answer/reply.ts";
import type { Redact } from "../trace/redact.ts";
import { readRetryAfter, type Failure } from "./retry-policy.ts";
import { errorForStatus, readErrorText } from "../answer/status-error.ts";
import type { Trace } from "../trace/trace.ts";

export interface AttemptOptions {
  readonly transport: Exchange;
  readonly clock: Clock;
  readonly redact: Redact;
  /** For bodies that are used: removes only the key. */
  readonly redactAnswer: Redact;
  readonly trace: Trace | undefined;
}

/** `answer` is set for statuses outside 2xx. */
export type Attempt<T> =
  | { readonly kind: "answered"; readonly value: T; readonly serverTime: number | null }
  | {
      readonly kind: "failed";
      readonly failure: Failure;
      readonly error: ClientError;
      readonly answer: AnswerText | null;
    };

/** One exchange, never repeated; `number` identifies it in the trace. Throws only on an abort or a bug. */
export async function attempt<T>(
  request: HttpRequest,
  read: ReplyReader<T>,
  number: number,
  options: AttemptOptions,
): Promise<Attempt<T>> {
  const call = nameCall(request.method, request.url);
  const { url, method, headers } = request;
  const startedAt = options.clock.monotonic();
  const elapsed = (): number => options.clock.monotonic() - startedAt;
  options.trace?.({
    kind: "request",
    number,
    method,
    url,
    headers,
    body: typeof request.body === "string" ? request.body : null,
  });
  const seen = (response: HttpResponse, body: string | null): void =>
    options.trace?.({
      kind: "response",
      number,
      status: response.status,
      headers: response.headers,
      durationMs: elapsed(),
      body,
    });
  try {
    const response = await options.transport(request);
    return await readResponse(response, read, { call, seen, signal: request.signal, ...options });
  } catch (error) {
    request.signal?.throwIfAborted();
    if (!(error instanceof ClientError)) throw error;
    options.trace?.({ kind: "failure", number, message: error.message, durationMs: elapsed() });
    return { kind: "failed", failure: failureOf(error), error, answer: null };
  }
}

interface ResponseContext extends AttemptOptions {
  readonly call: CallName;
  readonly seen: (response: HttpResponse, body: string | null) => void;
  readonly signal: AbortSignal | undefined;
}

async function readResponse<T>(
  response: HttpResponse,
  read: ReplyReader<T>,
  context: ResponseContext,
): Promise<Attempt<T>> {
  const { call, redact, seen } = context;
  if (response.status < 200 || response.status >= 300) return await failedStatus(response, context);
  const answer = await readAnswer(response, context).catch((error: unknown) => {
    seen(response, null);
    throw error;
  });
  seen(response, answer.text);
  return { kind: "answered", value: read(answer, call, redact), serverTime: answer.serverTime };
}

async function failedStatus(response: HttpResponse, context: ResponseContext): Promise<Attempt<never>> {
  const { status, headers } = response;
  const text = await readErrorText(response, context);
  context.seen(response, text);
  const retryAfterMs = readRetryAfter(headers, context.clock.now());
  const error = errorForStatus(response, text, retryAfterMs, context);
  return {
    kind: "failed",
    failure: { kind: "status", status, retryAfterMs },
    error,
    answer: { status, headers, text, serverTime: null },
  };
}

function failureOf(error: ClientError): Failure {
  if (error instanceof BadReplyError) return { kind: error.cutShort ? "lost" : "unreadable" };
  if (error instanceof ConnectionError && error.sent === "no")
    return { kind: "not-sent", repeatsMax: error.repeatsMax };
  if (error instanceof TimeoutError && error.sent === "no") return { kind: "not-sent", repeatsMax: Infinity };
  const isPassing = error instanceof TimeoutError || (error instanceof ConnectionError && error.repeatsMax > 0);
  return { kind: isPassing ? "lost" : "unreadable" };
}
