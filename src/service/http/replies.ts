import { STATUS_CODES } from "node:http";
import { Readable } from "node:stream";
import { type HttpResponse, UNCHANGED } from "../../contract/http.ts";
import { InvalidError, NotFoundError, UnavailableError } from "../domain/errors.ts";
import type { JsonRows } from "../domain/ports.ts";

export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message?: string, headers: Readonly<Record<string, string>> = {}) {
    super(message ?? STATUS_CODES[status]);
    this.status = status;
    this.headers = headers;
  }
}

type Headers = Readonly<Record<string, string>>;

const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };

export function jsonReply(status: number, value: unknown, headers?: Headers): HttpResponse {
  return { status, headers: Object.assign({}, JSON_HEADERS, headers), body: JSON.stringify(value) };
}

export function okReply(status: number, headers?: Headers): HttpResponse {
  return jsonReply(status, { ok: true }, headers);
}

export function changeReply(isChanged: boolean): HttpResponse {
  return okReply(202, isChanged ? {} : UNCHANGED);
}

/** In seconds. Short, because a full disk may have space again at any moment. */
const RETRY_SOON = { "retry-after": "5" };

export function errorReply(error: HttpError): HttpResponse;
export function errorReply(error: unknown): HttpResponse | null;
export function errorReply(error: unknown): HttpResponse | null {
  if (error instanceof InvalidError) return envelope(422, undefined, { errors: error.errors });
  if (error instanceof NotFoundError) return envelope(404);
  if (error instanceof UnavailableError) return envelope(503, undefined, {}, RETRY_SOON);
  if (error instanceof HttpError) return envelope(error.status, error.message, {}, error.headers);
  return null;
}

export function envelope(
  status: number,
  message = STATUS_CODES[status],
  extra: object = {},
  headers?: Headers,
): HttpResponse {
  return jsonReply(status, { status, message, ...extra }, headers);
}

/** Largest page, in UTF-16 units, that is kept in memory until it has been sent. */
const PAGE_KEPT_MAX = 256 * 1024;
/** UTF-16 units per write. */
const PART_LENGTH = 64 * 1024;

export function rowsReply(rows: JsonRows): HttpResponse {
  return { status: 200, headers: JSON_HEADERS, body: `[${rows.join(",")}]` };
}

/** For a large page, keeps only the rows' ids and reads the rows again while the client receives them. */
export function listReply(
  rows: JsonRows,
  idOf: (row: string) => string,
  readAgain: (id: string) => Promise<string | null>,
): HttpResponse {
  const length = rows.reduce((sum, row) => sum + row.length, 0);
  if (length <= PAGE_KEPT_MAX) return rowsReply(rows);
  return { status: 200, headers: JSON_HEADERS, body: readRows(rows.map(idOf), readAgain) };
}

async function* readRows(
  ids: readonly string[],
  readAgain: (id: string) => Promise<string | null>,
): AsyncGenerator<Uint8Array> {
  let text = "[";
  let isFirst = true;
  for (const id of ids) {
    const row = await readAgain(id);
    if (row === null) continue;
    text += isFirst ? row : `,${row}`;
    isFirst = false;
    if (text.length < PART_LENGTH) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(`${text}]`);
}

/** The response's own headers take precedence. A HEAD response has a length unless the body is sent in parts. */
export function completeResponse(
  { status, headers, body }: HttpResponse,
  common: Headers,
  isHead: boolean,
): HttpResponse {
  const all: Record<string, string> = Object.assign({}, common, headers);
  if (!isHead) return { status, headers: all, body };
  if (typeof body !== "string") return { status, headers: all, body: Readable.from([]) };
  all["content-length"] = String(Buffer.byteLength(body));
  return { status, headers: all, body: "" };
}
