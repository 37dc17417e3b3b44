/** A small HTTP service with the specification's lists. Tests change its rows and can replace its responses. */
import { createServer, type ServerResponse } from "node:http";
import type { JsonObject } from "../../src/contract/json.ts";
import { listening } from "./misbehaving-server.ts";

export interface Request {
  readonly n: number;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

export interface Spoiled {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ListServiceOptions {
  readonly lists: Readonly<Record<string, JsonObject[]>>;
  /** Called before each response. Its result replaces the response. */
  readonly onRequest?: (request: Request) => Spoiled | null | Promise<Spoiled | null>;
  readonly ignoresTimes?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ListService {
  readonly baseUrl: string;
  readonly env: Readonly<Record<string, string>>;
  readonly requests: Request[];
  stop(): Promise<void>;
}

const TIME_FIELDS: Readonly<Record<string, string>> = { bounces: "bounced_at", unsubscribes: "unsubscribed_at" };

export async function startListService(options: ListServiceOptions): Promise<ListService> {
  const requests: Request[] = [];
  const server = createServer((incoming, outgoing) => {
    const { pathname, searchParams } = new URL(incoming.url ?? "", "http://localhost");
    const request = { n: requests.length + 1, method: incoming.method ?? "GET", path: pathname, query: searchParams };
    requests.push(request);
    answer(options, request, incoming.headers.host ?? "", outgoing).catch((error: unknown) =>
      outgoing.destroy(error as Error),
    );
  });
  const baseUrl = `http://127.0.0.1:${await listening(server)}`;
  return {
    baseUrl,
    env: { SURVEYCTL_BASE_URL: baseUrl, SURVEYCTL_API_KEY: "key-of-the-test" },
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  options: ListServiceOptions,
  request: Request,
  host: string,
  outgoing: ServerResponse,
): Promise<void> {
  const spoiled = (await options.onRequest?.(request)) ?? null;
  if (spoiled !== null) {
    outgoing
      .writeHead(spoiled.status, { "content-type": "application/json", ...spoiled.headers })
      .end(spoiled.body ?? "{}");
    return;
  }
  const name = /\/(\w+)\.json$/.exec(request.path)?.[1] ?? "";
  const { body, next } = name === "metrics" ? metrics(options, request) : list(options, name, request);
  const link = next === null ? {} : { link: `<http://${host}${request.path}?${next}>; rel="next"` };
  outgoing.writeHead(200, { "content-type": "application/json", ...options.headers, ...link }).end(body);
}

interface Answer {
  readonly body: string;
  readonly next: string | null;
}

function metrics(options: ListServiceOptions, { query }: Request): Answer {
  return {
    body: JSON.stringify({ nps: 0, response_count: select(options, "survey_responses", query).length }),
    next: null,
  };
}

function list(options: ListServiceOptions, name: string, { query }: Request): Answer {
  const isCursor = name === "people" || name === "memberships";
  const cursor = new URLSearchParams(query.get("page_info") ?? "");
  const asked = query.has("page_info") ? cursor : query;
  const rows = select(options, name, asked);
  const perPage = Number(asked.get("per_page") ?? 20);
  if (!isCursor) {
    const first = (Number(query.get("page") ?? 1) - 1) * perPage;
    return { body: JSON.stringify(rows.slice(first, first + perPage)), next: null };
  }
  const after = rows.filter((row) => compare(name, row, cursor) > 0);
  const page = after.slice(0, perPage);
  const last = page.at(-1);
  if (last === undefined || after.length === page.length) return { body: JSON.stringify(page), next: null };
  const position = { at: String(timeOf(name, last)), id: String(idOf(last)) };
  const next = new URLSearchParams({ ...Object.fromEntries(asked), per_page: String(perPage), ...position });
  return { body: JSON.stringify(page), next: new URLSearchParams({ page_info: next.toString() }).toString() };
}

function select({ lists, ignoresTimes }: ListServiceOptions, name: string, query: URLSearchParams): JsonObject[] {
  const byUpdate = query.get("order")?.endsWith(":updated_at") ?? false;
  const key = (row: JsonObject): number => (byUpdate ? Number(row.updated_at) : timeOf(name, row));
  const rows = (lists[name] ?? []).toSorted((a, b) => key(a) - key(b) || idOf(a) - idOf(b));
  if (query.get("order")?.startsWith("desc") === true) rows.reverse();
  if (ignoresTimes === true) return rows;
  const within = (at: number, since: string, until: string): boolean =>
    at >= Number(query.get(since) ?? -Infinity) && at <= Number(query.get(until) ?? Infinity);
  return rows.filter(
    (row) =>
      within(timeOf(name, row), "since", "until") &&
      within(Number(row.updated_at ?? 0), "updated_since", "updated_until"),
  );
}

function compare(name: string, row: JsonObject, cursor: URLSearchParams): number {
  if (!cursor.has("at")) return 1;
  return timeOf(name, row) - Number(cursor.get("at")) || idOf(row) - Number(cursor.get("id"));
}

function timeOf(name: string, row: JsonObject): number {
  return Number(row[TIME_FIELDS[name] ?? "created_at"]);
}

function idOf(row: JsonObject): number {
  return Number(row.id ?? row.person_id ?? 0);
}

export function responseRow(id: number, at: number, more: JsonObject = {}): JsonObject {
  return {
    id: String(id),
    person: {
      id: String(id + 1000),
      email: `p${id}@example.com`,
      name: `Person ${id}`,
      created_at: at,
      phone_number: null,
    },
    survey_type: "nps",
    score: id % 11,
    comment: `Comment ${id}, "quoted"`,
    permalink: `https://survey.example.com/r/${id}`,
    created_at: at,
    updated_at: at,
    person_properties: { plan: "pro" },
    notes: [],
    tags: [],
    additional_answers: [],
    ...more,
  };
}
