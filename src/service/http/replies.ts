/** What goes back: JSON unless the headers say otherwise, never an empty success, errors in one envelope. */
import type { HttpResponse } from "../../contract/http.ts";
import { InvalidError, NotFoundError, UnavailableError } from "../domain/errors.ts";
import { HttpError, statusPhrase } from "./http-error.ts";

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const JSON_TYPE = "application/json; charset=utf-8";

export function jsonReply(status: number, value: unknown): Reply {
  return { status, text: JSON.stringify(value) };
}

export const okReply = (status: number): Reply => ({ status, text: '{"ok":true}' });

/** Seconds; a full disk may have room again at any moment. */
const RETRY_SOON = { "retry-after": "5" };

/** The one table from what went wrong to what the caller is told; null for a fault of our own, which is only logged. */
export function errorReply(error: unknown): Reply | null {
  if (error instanceof InvalidError) return envelope(422, statusPhrase(422), { errors: error.errors });
  if (error instanceof NotFoundError) return envelope(404, statusPhrase(404));
  if (error instanceof UnavailableError) return { ...envelope(503, statusPhrase(503)), headers: RETRY_SOON };
  if (error instanceof HttpError) return { ...envelope(error.status, error.message), headers: error.headers };
  return null;
}

export const internalErrorReply = (): Reply => envelope(500, statusPhrase(500));

function envelope(status: number, message: string, extra: object = {}): Reply {
  return jsonReply(status, { status, message, ...extra });
}

export function toHttpResponse(reply: Reply, common: Readonly<Record<string, string>>, head: boolean): HttpResponse {
  const headers: Record<string, string> = { "content-type": JSON_TYPE, ...common, ...reply.headers };
  if (!head) return { status: reply.status, headers, body: reply.text };
  headers["content-length"] = String(Buffer.byteLength(reply.text));
  return { status: reply.status, headers, body: "" };
}
