/** All parameters of a call: query and body together, the body's winning. */
import { parseBracketPairs } from "../../contract/brackets.ts";
import type { HttpRequest } from "../../contract/http.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { Parameter, Route } from "../../contract/routes.ts";
import { readBody } from "./body.ts";

export function readParameters(request: HttpRequest, query: string, route: Route): JsonObject {
  const fromQuery = query === "" ? {} : parseQuery(query, route);
  // Clients put `{}` into a GET, or name a type for a body that is not there: never read.
  if (request.method === "GET" || request.method === "HEAD") return fromQuery;
  return { ...fromQuery, ...readBody(request) };
}

/** Decodes a query; repeated plain names of an array parameter are collected, of others the last one counts. */
export function parseQuery(query: string, route: Route): JsonObject {
  const pairs = [...new URLSearchParams(query)].map(([name, value]): [string, string] => {
    const plain = name.endsWith("[]") ? name.slice(0, -2) : name;
    const parameter = route.parameters.find((one) => one.name === plain);
    return parameter?.type === "array" ? [`${plain}[]`, value] : [name, restorePlus(value, parameter)];
  });
  return parseBracketPairs(pairs);
}

/** A `+` that a client forgot to escape arrives as a space; neither phones nor e-mails have spaces. */
export function restorePlus(value: string, parameter: Pick<Parameter, "type"> | undefined): string {
  if (parameter?.type === "phone") return value.replace(/^ /, "+");
  return parameter?.type === "email" ? value.replaceAll(" ", "+") : value;
}
