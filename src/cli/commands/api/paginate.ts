import type { Client, Page } from "../../../client/client.ts";
import type { Json } from "../../../contract/json.ts";
import { ROUTES, type Route } from "../../../contract/routes.ts";
import { splitRowTexts } from "../../../contract/row-texts.ts";
import type { Deps } from "../../deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { toSafeLines } from "../../render/safe-text.ts";

/** A list from its first page to its last as one array, written as it arrives. */
export async function writePages({ streams, signal }: Deps, client: Client, url: string): Promise<ExitCode> {
  const { route, placeholders } = findList(url, client.baseUrl);
  let first = true;
  for await (const page of walk(client, route, placeholders, new URL(url), signal)) {
    const rows = splitRowTexts(page.text).map((row) => (streams.out.isTTY ? toSafeLines(row) : row));
    if (rows.length === 0) continue;
    await streams.out.write(`${first ? "[\n" : ",\n"}${rows.join(",\n")}`);
    first = false;
  }
  await streams.out.write(first ? "[]\n" : "\n]\n");
  return EXIT.done;
}

function walk(client: Client, route: Route, { platform }: Record<string, string>, url: URL, signal: AbortSignal): AsyncGenerator<Page> {
  const parameters = toParameters(url.searchParams);
  const lists: Partial<Record<string, () => AsyncGenerator<Page>>> = {
    listPeople: () => client.listPeople(parameters, { signal }),
    listResponses: () => client.listResponses(parameters, { signal }),
    listBounces: () => client.listBounces(parameters, { signal }),
    listUnsubscribes: () => client.listUnsubscribes(parameters, { signal }),
    listMembers: () => client.listMembers(platform === "sms" ? "sms" : "email", parameters, { signal }),
  };
  const list = lists[route.name];
  if (list === undefined) throw notAList(url.pathname);
  return list();
}

function findList(url: string, baseUrl: string): { route: Route; placeholders: Record<string, string> } {
  const base = new URL(baseUrl).pathname.replace(/\/$/, "");
  const path = new URL(url).pathname.slice(base.length).replace(/\.json$/, "");
  for (const route of Object.values(ROUTES)) {
    const match = route.method === "GET" && new RegExp(`^${route.path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`).exec(path);
    if (match !== null && match !== false && route.pagination !== "none") return { route, placeholders: { ...match.groups } };
  }
  throw notAList(path);
}

function notAList(path: string): UsageError {
  const lists = Object.values(ROUTES).filter(({ pagination }) => pagination !== "none");
  return new UsageError(`--paginate: ${path} is not a list; the lists are ${lists.map((route) => `${route.path}.json`).join(", ")}`);
}

/** The query that was typed, `name[]` as arrays, as the list methods take it. */
function toParameters(query: URLSearchParams): Record<string, Json> {
  const parameters: Record<string, Json> = {};
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    if (name.endsWith("[]")) parameters[name.slice(0, -2)] = values;
    else parameters[name] = values.at(-1) ?? "";
  }
  return parameters;
}
