/** A client of fixed responses, without a service: it honours `since`, `until` and `page`. */
import type { Client, Page } from "../../src/client/client.ts";
import type { JsonObject } from "../../src/contract/json.ts";
import { NOW } from "./fake-deps.ts";

export function listedClient(rows: readonly JsonObject[]): Partial<Client> {
  const page: Client["page"] = async ({ parameters }): Promise<Page> => {
    const [since, until] = [Number(parameters["since"] ?? 0), Number(parameters["until"] ?? Infinity)];
    const first = (Number(parameters["page"]) - 1) * 100;
    const all = rows.filter(({ created_at: at }) => Number(at) >= since && Number(at) <= until);
    const shown = all.slice(first, first + 100);
    return { rows: shown, text: JSON.stringify(shown), next: null, serverTime: NOW };
  };
  return { baseUrl: "https://survey.example.com", page };
}
