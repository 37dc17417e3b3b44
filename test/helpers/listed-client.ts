/**
 * A client with fixed responses that supports `since`, `until` and `page`. `metrics` is returned for any range, and
 * `link` for any response; null means no links.
 */
import type { Client, Page } from "../../src/client/client.ts";
import { RefusedError } from "../../src/client/errors/call-errors.ts";
import type { JsonObject } from "../../src/contract/json.ts";
import { NOW } from "./fake-deps.ts";

export function listedClient(
  rows: readonly JsonObject[],
  {
    metrics = {},
    headers = {},
    link = null,
  }: { readonly metrics?: JsonObject; readonly headers?: Record<string, string>; readonly link?: string | null } = {},
): Partial<Client> {
  const page: Client["page"] = async ({ parameters }): Promise<Page> => {
    const [since, until] = [Number(parameters["since"] ?? 0), Number(parameters["until"] ?? Infinity)];
    const first = (Number(parameters["page"]) - 1) * 100;
    const all = rows.filter(({ created_at: at }) => Number(at) >= since && Number(at) <= until);
    const shown = all.slice(first, first + 100);
    return { rows: shown, text: JSON.stringify(shown), next: null, serverTime: NOW };
  };
  const reply = (json: JsonObject) => ({ status: 200, headers, text: JSON.stringify(json), json, serverTime: NOW });
  const call: Client["call"] = async ({ route }) => {
    if (link !== null) return reply({ url: link });
    throw new RefusedError("not found", {
      call: { method: route.method, url: route.path },
      status: 404,
      details: null,
    });
  };
  return { baseUrl: "https://survey.example.com", page, call, getMetrics: async () => reply(metrics) };
}
