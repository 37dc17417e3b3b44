/** All parameters of a call: query and body together, the body's winning. */
import { parseBracketPairs } from "../../contract/brackets.ts";
import type { HttpRequest } from "../../contract/http.ts";
import type { JsonObject } from "../../contract/json.ts";
import { ROUTES, type ParameterType, type Route } from "../../contract/routes.ts";
import { readBody } from "./body.ts";

export function readParameters(request: HttpRequest, query: string, route: Route): JsonObject {
  const fromQuery = query === "" ? {} : parseQuery(query, route);
  // Clients put `{}` into a GET, or name a type for a body that is not there: never read.
  if (request.method === "GET" || request.method === "HEAD") return fromQuery;
  return { ...fromQuery, ...readBody(request) };
}

type Types = ReadonlyMap<string, ParameterType>;

const TYPES: ReadonlyMap<string, Types> = new Map(
  Object.values(ROUTES).map((route) => [route.name, new Map(route.parameters.map(({ name, type }) => [name, type]))]),
);
const NO_TYPES: Types = new Map();

/** Decodes a query; repeated plain names of an array parameter are collected, of others the last one counts. */
export function parseQuery(query: string, route: Route): JsonObject {
  const types = TYPES.get(route.name) ?? NO_TYPES;
  return parseBracketPairs(splitQuery(query).map((pair) => adapt(pair, types)));
}

/** Most queries need no decoding, and then none is done. */
function splitQuery(query: string): [string, string][] {
  if (/[%+]/.test(query)) return [...new URLSearchParams(query)];
  return query.split("&").map((pair) => {
    const at = pair.indexOf("=");
    return at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
  });
}

function adapt([name, value]: [string, string], types: Types): [string, string] {
  const plain = name.endsWith("[]") ? name.slice(0, -2) : name;
  const type = types.get(plain);
  return type === "array" ? [`${plain}[]`, value] : [name, restorePlus(value, type)];
}

/** A `+` that a client forgot to escape arrives as a space; neither phones nor e-mails have spaces. */
function restorePlus(value: string, type: ParameterType | undefined): string {
  if (type === "phone") return value.replace(/^ /, "+");
  return type === "email" ? value.replaceAll(" ", "+") : value;
}
