import { formatQuery } from "../../../contract/brackets.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { UsageError } from "../../errors/usage-error.ts";

/** The absolute URL of a path below the base URL. Throws UsageError for any other address: the key goes nowhere else. */
export function resolveTarget(path: string, baseUrl: string, query: JsonObject): string {
  const base = new URL(baseUrl);
  const prefix = base.pathname.replace(/\/$/, "");
  const url = isAbsolute(path) ? new URL(path) : new URL(`${base.origin}${prefix}/${path.replace(/^\/+/, "")}`);
  const below = url.origin === base.origin && `${url.pathname}/`.startsWith(`${prefix}/`);
  if (!below || url.username !== "" || url.password !== "") {
    throw new UsageError(`${JSON.stringify(path)} is outside the base URL ${baseUrl}; the API key is only sent there`);
  }
  const added = formatQuery(query);
  if (added !== "") url.search = url.search === "" ? added : `${url.search}&${added}`;
  return url.href;
}

function isAbsolute(path: string): boolean {
  return /^[a-z][a-z\d+.-]*:/i.test(path) || path.startsWith("//") ? assertReadable(path) : false;
}

function assertReadable(path: string): true {
  if (URL.canParse(path)) return true;
  throw new UsageError(`${JSON.stringify(path)} is not a valid path, such as /v1/people.json`);
}
