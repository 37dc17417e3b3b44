import type { ApiReply } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { CHANNELS, PROJECT_NAME_HEADER } from "../../../contract/routes.ts";
import { areRatesOpen, type ResponseRates } from "../../../insight/report/facts.ts";
import { type Deps, withClient } from "../../kit/deps.ts";
import { nullIfRefused } from "../../kit/refusals.ts";
import { lastSecond, type ReportRequest } from "./read-facts.ts";

export type TypedRequest = Omit<ReportRequest, "title" | "sponsor" | "rates"> & { readonly title: string | null };

export async function completeRequest(deps: Deps, typed: TypedRequest): Promise<ReportRequest> {
  const { since, trend } = typed;
  const until = lastSecond(typed);
  const reply = await withClient(deps, (client) =>
    // A service that lacks these groups refuses them.
    nullIfRefused(client.getMetrics({ since, until, groups: [...CHANNELS] }, { signal: deps.signal })),
  );
  const name = nameOf(reply);
  const title = typed.title ?? name ?? "Customer survey";
  // A trend filters answers but not the surveys sent, so it has no rates.
  const rates = trend === null && reply !== null ? ratesOf(reply.json, areRatesOpen(until, typed.asOf)) : null;
  return { ...typed, title, sponsor: name === title ? null : name, rates };
}

function nameOf(reply: ApiReply | null): string | null {
  const header = reply?.headers[PROJECT_NAME_HEADER] ?? "";
  try {
    return decodeURIComponent(header) || null;
  } catch {
    return null;
  }
}

function ratesOf(json: JsonObject, areOpen: boolean): ResponseRates | null {
  if (CHANNELS.every((channel) => json[`${channel}_response_rate`] === undefined)) return null;
  const channels = CHANNELS.flatMap((channel) => {
    const [sent, rate] = [json[`${channel}_sent_count`], json[`${channel}_response_rate`]];
    return typeof sent === "number" && typeof rate === "number" ? [{ channel, sent, rate }] : [];
  });
  return { channels, areOpen };
}
