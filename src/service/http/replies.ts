/** JSON by default; a success always has a body, and errors have one envelope. */
import { STATUS_CODES } from "node:http";
import { type HttpResponse, UNCHANGED } from "../../contract/http.ts";
import { InvalidError, NotFoundError, UnavailableError } from "../domain/errors.ts";
import type { JsonRows } from "../domain/ports.ts";

/** A refusal by HTTP rules, before any rule of the domain. */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  /** `message` defaults to the status' phrase. */
  constructor(status: number, message?: string, headers: Readonly<Record<string, string>> = {}) {
    super(message ?? STATUS_CODES[status]);
    this.status = status;
    this.headers = headers;
  }
}

export interface Reply {
  readonly status: number;
  /** The text, or its parts on demand. */
  readonly text: string | AsyncIterable<string>;
  readonly headers?: Readonly<Record<string, string>>;
}

const JSON_TYPE = "application/json; charset=utf-8";

export function jsonReply(status: number, value: unknown): Reply {
  return { status, text: JSON.stringify(value) };
}

export const okReply = (status: number): Reply => ({ status, text: '{"ok":true}' });

export function changeReply(isChanged: boolean): Reply {
  return { ...okReply(202), headers: isChanged ? {} : UNCHANGED };
}

/** Seconds; a full disk may have space again at any moment. */
const RETRY_SOON = { "retry-after": "5" };

/** Maps errors to answers; null for a bug. */
export function errorReply(error: HttpError): Reply;
export function errorReply(error: unknown): Reply | null;
export function errorReply(error: unknown): Reply | null {
  if (error instanceof InvalidError) return envelope(422, undefined, { errors: error.errors });
  if (error instanceof NotFoundError) return envelope(404);
  if (error instanceof UnavailableError) return { ...envelope(503), headers: RETRY_SOON };
  if (error instanceof HttpError) return { ...envelope(error.status, error.message), headers: error.headers };
  return null;
}

/** UTF-16 units of a page that is kept in memory until it has been sent. */
const PAGE_KEPT_MAX = 256 * 1024;
/** UTF-16 units sent at once. */
const PART_LENGTH = 64 * 1024;

/**
 * A JSON array. For a large page only its rows' ids are kept (`idOf`), and the rows are read again as the client takes
 * them; rows deleted meanwhile are left out.
 */
export function listReply(
  rows: JsonRows,
  idOf: (row: string) => string,
  readAgain: (id: string) => Promise<string | null>,
): Reply {
  const length = rows.reduce((sum, row) => sum + row.length, 0);
  if (length <= PAGE_KEPT_MAX) return { status: 200, text: `[${rows.join(",")}]` };
  return { status: 200, text: readRows(rows.map(idOf), readAgain) };
}

async function* readRows(
  ids: readonly string[],
  readAgain: (id: string) => Promise<string | null>,
): AsyncGenerator<string> {
  let text = "[";
  let isFirst = true;
  for (const id of ids) {
    const row = await readAgain(id);
    if (row === null) continue;
    text += isFirst ? row : `,${row}`;
    isFirst = false;
    if (text.length < PART_LENGTH) continue;
    yield text;
    text = "";
  }
  yield `${text}]`;
}

export function envelope(status: number, message = STATUS_CODES[status], extra: object = {}): Reply {
  return jsonReply(status, { status, message, ...extra });
}

/** `head` omits the body. An answer in parts has no Content-Length. */
export function toHttpResponse(reply: Reply, common: Readonly<Record<string, string>>, head: boolean): HttpResponse {
  const headers: Record<string, string> = Object.assign({ "content-type": JSON_TYPE }, common, reply.headers);
  const { status, text } = reply;
  if (typeof text !== "string") return { status, headers, body: toBytes(head ? [] : text) };
  if (!head) return { status, headers, body: text };
  headers["content-length"] = String(Buffer.byteLength(text));
  return { status, headers, body: "" };
}

async function* toBytes(parts: AsyncIterable<string> | Iterable<string>): AsyncGenerator<Uint8Array> {
  for await (const part of parts) yield Buffer.from(part);
}
