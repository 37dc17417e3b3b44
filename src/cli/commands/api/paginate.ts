import type { Client, Page } from "../../../client/client.ts";
import { listPages } from "../../../client/pages.ts";
import type { Json } from "../../../contract/json.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { splitRowTexts } from "../../../contract/row-texts.ts";
import type { Deps } from "../../kit/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { Resource } from "../../render/columns.ts";
import { openListOutput } from "../../render/list-output.ts";
import { BOUNCES, MEMBERS, PEOPLE, RESPONSES, UNSUBSCRIBES } from "../../render/resources.ts";
import { isShaped, toTerminalJson } from "./shape.ts";

export async function writePages(deps: Deps, client: Client, url: string): Promise<void> {
  const { streams, signal } = deps;
  const { color } = deps.options;
  const list = matchList(url, client.baseUrl);
  if (list === null) throw notAList(new URL(url).pathname);
  const pages = listPages(client, { ...list, parameters: toParameters(new URL(url).searchParams), signal });
  if (isShaped(deps)) return writeShapedPages(deps, pages, RESOURCES[list.route.name] ?? PEOPLE);
  let first = true;
  for await (const page of pages) {
    const texts = splitRowTexts(page.text);
    const rows = streams.out.isTTY
      ? await Promise.all(texts.map(async (row) => `  ${await toTerminalJson(row, color, 1)}`))
      : texts;
    if (rows.length === 0) continue;
    await streams.out.write(`${first ? "[\n" : ",\n"}${rows.join(",\n")}`);
    first = false;
  }
  await streams.out.write(first ? "[]\n" : "\n]\n");
}

const RESOURCES: Readonly<Record<string, Resource>> = {
  listPeople: PEOPLE,
  listResponses: RESPONSES,
  listBounces: BOUNCES,
  listUnsubscribes: UNSUBSCRIBES,
  listMembers: MEMBERS,
};

async function writeShapedPages(deps: Deps, pages: AsyncIterable<Page>, resource: Resource): Promise<void> {
  const output = await openListOutput(deps, { resource, defaultFormat: "json" });
  for await (const page of pages) await output.write(page);
  await output.end();
}

export function resourceAt(url: string, baseUrl: string): Resource | null {
  const name = matchList(url, baseUrl)?.route.name;
  return name === undefined ? null : (RESOURCES[name] ?? null);
}

function matchList(url: string, baseUrl: string) {
  const base = new URL(baseUrl).pathname.replace(/\/$/, "");
  const path = new URL(url).pathname.slice(base.length).replace(/\.json$/, "");
  for (const route of Object.values(ROUTES)) {
    const match =
      route.method === "GET" && new RegExp(`^${route.path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`).exec(path);
    if (match !== null && match !== false && route.pagination !== "none")
      return { route, placeholders: { ...match.groups } };
  }
  return null;
}

function notAList(path: string): UsageError {
  const lists = Object.values(ROUTES).filter(({ pagination }) => pagination !== "none");
  return new UsageError(
    `--paginate: ${path} is not a list; the lists are ${lists.map((route) => `${route.path}.json`).join(", ")}`,
  );
}

function toParameters(query: URLSearchParams): Record<string, Json> {
  const parameters: Record<string, Json> = {};
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    if (name.endsWith("[]")) parameters[name.slice(0, -2)] = values;
    else parameters[name] = values.at(-1) ?? "";
  }
  return parameters;
}
