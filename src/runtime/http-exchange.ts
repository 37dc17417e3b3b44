import type { ClientRequest, IncomingMessage } from "node:http";
import type { Clock } from "./clock.ts";
import { onAbort } from "./on-abort.ts";

export interface AnswerStart {
  readonly status: number;
  readonly bytes: Buffer;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
}

export async function readAnswerStart(
  response: IncomingMessage,
  request: ClientRequest,
  maxBytes: number,
): Promise<AnswerStart> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) break;
    }
  } catch {}
  if (size > maxBytes || !response.complete) request.destroy();
  return {
    status: response.statusCode ?? 0,
    bytes: Buffer.concat(chunks),
    retryAfter: response.headers["retry-after"],
    location: response.headers.location,
  };
}

/** Shared, because a DOMException for each attempt would cost more than the request's headers. */
const OVER = new Error("over");

export function startDeadline(clock: Clock, ms: number, signal?: AbortSignal) {
  const ending = new AbortController();
  const done = new AbortController();
  const state = { isOver: false };
  const ring = async (): Promise<void> => {
    await clock.sleep(ms, done.signal);
    state.isOver = true;
    ending.abort(OVER);
  };
  void ring().catch(() => undefined);
  const stopWaiting = onAbort(signal, () => ending.abort(OVER));
  const stop = (): void => {
    stopWaiting();
    done.abort(OVER);
  };
  return { signal: ending.signal, isOver: (): boolean => state.isOver, stop };
}

export function retryAfterSeconds(text: string | undefined, clock: Clock): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - clock.now()) / 1000));
}

const CERTIFICATE_PROBLEM = /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/;
/** Newer versions of Node append this advice. */
const ADVICE = /; if the root CA is installed locally, .*$/;

export function certificateFault(code: string, message: string): string | null {
  return CERTIFICATE_PROBLEM.test(code) ? message.replace(ADVICE, "") : null;
}

export function describeHttpFailure(error: unknown): string {
  const { code, message } = (error instanceof AggregateError ? (error.errors as unknown[])[0] : error) as Error & {
    readonly code?: string;
  };
  const known: Readonly<Record<string, string>> = {
    ENOTFOUND: "the host cannot be resolved",
    EAI_AGAIN: "the host cannot be resolved at the moment",
    ECONNREFUSED: "the connection was refused",
    ECONNRESET: "the connection broke",
    EHOSTUNREACH: "the host cannot be reached",
    ENETUNREACH: "the host cannot be reached",
    ETIMEDOUT: "no connection in time",
    HPE_HEADER_OVERFLOW: "the answer's headers are too large",
    EPROTO: "the TLS handshake failed; is it plain http?",
  };
  const fault = certificateFault(code ?? "", message);
  if (fault !== null) return `the certificate cannot be trusted (${fault}, ${code})`;
  return known[code ?? ""] ?? (code?.startsWith("HPE_") ? "the answer is not HTTP" : message);
}
