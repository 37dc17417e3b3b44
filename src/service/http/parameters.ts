import { formatQuery, parseBracketPairs } from "../../contract/brackets.ts";
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { parseWithAllDigits } from "../../contract/long-numbers.ts";
import { formatNextLink } from "../../contract/text/link.ts";
import { ROUTES, type ParameterType, type Route } from "../../contract/routes.ts";
import { InvalidError } from "../domain/errors.ts";
import { bodyKind } from "./head.ts";
import { HttpError } from "./replies.ts";

type Types = ReadonlyMap<string, ParameterType>;

const TYPES: ReadonlyMap<string, Types> = new Map(
  Object.values(ROUTES).map((route) => [route.name, new Map(route.parameters.map(({ name, type }) => [name, type]))]),
);
const NO_TYPES: Types = new Map();

/** Repeated names are collected for array parameters; for others, the last one wins. */
export function parseQuery(query: string, route: Route): JsonObject {
  return query === "" ? {} : parsePairs(decodePairs(query), route);
}

/** Decodes invalid UTF-8 to an unpaired surrogate, which every rule rejects, instead of U+FFFD. */
function decodePairs(text: string): [string, string][] {
  const pairs = [...new URLSearchParams(text)];
  if (!pairs.some((pair) => pair.some((part) => part.includes("\uFFFD"))) || isUtf8(text)) return pairs;
  return pairs.map(([name, value]) => [name.replaceAll("\uFFFD", "\uD800"), value.replaceAll("\uFFFD", "\uD800")]);
}

function isUtf8(encoded: string): boolean {
  try {
    decodeURIComponent(encoded.replace(/%(?![\da-f]{2})/gi, "%25"));
    return true;
  } catch {
    return false;
  }
}

function parsePairs(pairs: readonly [string, string][], route: Route): JsonObject {
  const types = TYPES.get(route.name) ?? NO_TYPES;
  return parseBracketPairs(pairs.flatMap((pair) => adapt(pair, types)));
}

/** `name=a,b` and a repeated `name=` are arrays too. */
function adapt([name, value]: [string, string], types: Types): [string, string][] {
  const type = types.get(name);
  if (type === "array") return value.split(",").map((item) => [`${name}[]`, item]);
  return [[name, restorePlus(value, type)]];
}

/** An unescaped `+` arrives as a space, which neither phone numbers nor addresses contain. */
function restorePlus(value: string, type: ParameterType | undefined): string {
  if (type === "phone") return value.replace(/^ /, "+");
  return type === "email" ? value.replaceAll(" ", "+") : value;
}

/** Reads JSON or a form; empty means no parameters. Throws 415, or 400 with the reason. */
export function parseBody(body: string | Uint8Array, contentType: string | undefined, route: Route): JsonObject {
  const text = decodeText(body);
  if (text.trim() === "") return {};
  const kind = bodyKind(contentType);
  // `curl -d '{…}'` sends JSON with the content type of a form.
  if (kind === "json" || /^\s*[{[]/.test(text)) return parseJson(text);
  if (kind === "unnamed" && !text.includes("=")) return parseJson(text);
  return parsePairs(decodePairs(text), route);
}

export function parseJsonBody(body: string | Uint8Array): JsonObject {
  const text = decodeText(body);
  return text.trim() === "" ? {} : parseJson(text);
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

function decodeText(body: string | Uint8Array): string {
  if (typeof body === "string") return body;
  try {
    return UTF8.decode(body);
  } catch (error) {
    throw new HttpError(
      400,
      `Bad Request: the body is not UTF-8 text (${error instanceof Error ? error.message : "unreadable"})`,
    );
  }
}

/** Bracketed names work in JSON too. */
function parseJson(text: string): JsonObject {
  const value = tryParse(text);
  if (!isJsonObject(value)) throw new HttpError(400, "Bad Request: the body must be one JSON object");
  return Object.keys(value).some((name) => name.includes("[")) ? parseBracketPairs(Object.entries(value)) : value;
}

function tryParse(text: string): unknown {
  try {
    return parseWithAllDigits(text);
  } catch (error) {
    const place = /position \d+|end of JSON input/.exec(error instanceof Error ? error.message : "")?.[0];
    // The parser's message quotes the body, which must stay out of the logs.
    throw new HttpError(400, `Bad Request: the body is not valid JSON${place === undefined ? "" : ` (${place})`}`);
  }
}

/** `page_info` is the position, a dot and the filters, so that a cursor works without the rest of its URL. */
export function withCursorFilters(parameters: JsonObject, route: Route): JsonObject {
  const cursor = parameters.page_info;
  if (typeof cursor !== "string") return parameters;
  const dotAt = cursor.indexOf(".");
  if (dotAt < 0) return parameters;
  const encoded = cursor.slice(dotAt + 1);
  const bytes = Buffer.from(encoded, "base64url");
  // Rejects damaged filters, because without them the cursor would page through a different list.
  if (dotAt === 0 || bytes.toString("base64url") !== encoded) throw new InvalidError({ page_info: ["is invalid"] });
  const filters = bytes.toString();
  return { ...parseQuery(filters, route), ...parameters, page_info: cursor.slice(0, dotAt) };
}

export function nextLink(
  address: string,
  route: Route,
  parameters: JsonObject,
  perPage: number,
  position: string,
): string {
  const known = route.parameters
    .map(({ name }) => name)
    .filter((name) => name !== "per_page" && Object.hasOwn(parameters, name));
  const filters = { per_page: perPage, ...Object.fromEntries(known.map((name) => [name, parameters[name]])) };
  const pageInfo = `${position}.${Buffer.from(formatQuery(filters)).toString("base64url")}`;
  return formatNextLink(`${address}?${formatQuery({ page_info: pageInfo, ...filters })}`);
}
