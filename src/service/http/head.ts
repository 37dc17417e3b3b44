import { BODY_MAX, tooLarge } from "./bodies.ts";
import { isReading, type KeyAccess, READ_ONLY_REFUSAL } from "../../contract/key-access.ts";
import { HttpError } from "./replies.ts";

type Headers = Readonly<Record<string, string>>;

/** Throws 403 for a cross-site write, because browsers attach Basic credentials automatically. */
export function refuseCrossSite(method: string, headers: Headers): void {
  if (headers["sec-fetch-site"] !== "cross-site" || isReading(method)) return;
  throw new HttpError(403, "Forbidden: writes from pages of other sites are refused");
}

/** Throws 403 if a read-only key is used for a write. `access` is null without a key. */
export function refuseWrite(method: string, access: KeyAccess | null): void {
  if (access === "read-only" && !isReading(method)) throw new HttpError(403, `Forbidden: ${READ_ONLY_REFUSAL}`);
}

/** Throws 413 if the announced body is too large, and 415 if it isn't JSON or a form in UTF-8. */
export function checkBodyHead(headers: Headers): void {
  if (Number(headers["content-length"] ?? 0) > BODY_MAX) throw tooLarge();
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (encoding !== "" && encoding !== "identity") throw unsupported(`Content-Encoding ${encoding}`);
  bodyKind(headers["content-type"]);
}

const JSON_RANGES = new Set(["*/*", "*", "application/*", "application/json", "text/json"]);

export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === "*/*" || accept === "application/json" || accept.trim() === "") return true;
  const ranges = accept.split(",").map(parseRange);
  const exact = ranges.find(({ type }) => type === "application/json");
  if (exact !== undefined) return exact.quality > 0;
  return ranges.some(({ type, quality }) => quality > 0 && (JSON_RANGES.has(type) || type.endsWith("+json")));
}

function parseRange(text: string): { type: string; quality: number } {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.map((one) => /^q\s*=\s*(.*)$/.exec(one)?.[1]).find((value) => value !== undefined);
  return { type, quality: quality === undefined ? 1 : Number(quality) };
}

export type BodyKind = "json" | "form" | "unnamed";

export function bodyKind(contentType: string | undefined): BodyKind {
  if (contentType === undefined || contentType.trim() === "") return "unnamed";
  const [type = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters
    .map((one) => /^charset\s*=\s*"?([^"]*)"?$/.exec(one)?.[1])
    .find((value) => value !== undefined);
  if (charset !== undefined && !["utf-8", "utf8", "us-ascii"].includes(charset))
    throw unsupported(`charset ${charset}`);
  if (type === "application/json" || type === "text/json" || type.endsWith("+json")) return "json";
  if (type === "application/x-www-form-urlencoded") return "form";
  throw unsupported(type);
}

function unsupported(what: string): HttpError {
  const seen = what.slice(0, 100);
  return new HttpError(
    415,
    `Unsupported Media Type: ${seen}; send application/json or application/x-www-form-urlencoded in UTF-8`,
  );
}
