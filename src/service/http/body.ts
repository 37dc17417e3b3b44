/** A request's body as parameters, whichever of the two forms it has. */
import { parseBracketPairs } from "../../contract/brackets.ts";
import type { HttpRequest } from "../../contract/http.ts";
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { HttpError } from "./http-error.ts";
import { bodyKind } from "./negotiation.ts";

/** Bytes. */
export const BODY_MAX = 1024 * 1024;

/** Whether the header announces more than we read. */
export function announcesTooMuch(contentLength: string | undefined): boolean {
  return contentLength !== undefined && Number(contentLength) > BODY_MAX;
}

/** Throws 413, 415, and 400 with the reason for a body that cannot be read; no body at all is no parameters. */
export function readBody({ headers, body }: HttpRequest): JsonObject {
  if (announcesTooMuch(headers["content-length"]) || byteLength(body) > BODY_MAX) {
    throw new HttpError(413, `Payload Too Large: a body may have at most ${BODY_MAX} bytes`);
  }
  const text = body === undefined ? "" : decodeText(body);
  if (text.trim() === "") return {};
  const kind = bodyKind(headers["content-type"]);
  // `curl -d '{…}'` calls JSON a form.
  if (kind === "json" || /^\s*[{[]/.test(text)) return parseJson(text);
  if (kind === "unnamed" && !text.includes("=")) return parseJson(text);
  return parseBracketPairs(new URLSearchParams(text));
}

function byteLength(body: HttpRequest["body"]): number {
  if (body === undefined) return 0;
  return typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
}

function decodeText(body: string | Uint8Array): string {
  if (typeof body === "string") return body;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch (error) {
    throw new HttpError(
      400,
      `Bad Request: the body is not UTF-8 text (${error instanceof Error ? error.message : "unreadable"})`,
    );
  }
}

function parseJson(text: string): JsonObject {
  const value = tryParse(text);
  if (!isJsonObject(value)) throw new HttpError(400, "Bad Request: the body must be one JSON object");
  return value;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const place = /position \d+|end of JSON input/.exec(error instanceof Error ? error.message : "")?.[0];
    // The parser's own sentence quotes the body, which does not belong into logs and traces.
    throw new HttpError(400, `Bad Request: the body is not valid JSON${place === undefined ? "" : ` (${place})`}`);
  }
}
