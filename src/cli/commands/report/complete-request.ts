/** The parts of a report's request that the service tells: its own name, and how many of its surveys were answered. */
import { RefusedError } from "../../../client/errors/call-errors.ts";
import type { ApiReply } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { CHANNELS, PROJECT_NAME_HEADER } from "../../../contract/routes.ts";
import { areRatesOpen, type ResponseRates } from "../../../insight/report/facts.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { lastSecond, type ReportRequest } from "./read-facts.ts";

/** As it was typed: null is what the service is asked for. */
export type TypedRequest = Omit<ReportRequest, "title" | "rates"> & { readonly title: string | null };

/** Asks for what is missing, so that the same report can be made again when more people have answered. */
export async function completeRequest(deps: Deps, typed: TypedRequest): Promise<ReportRequest> {
  const { since, trend } = typed;
  const until = lastSecond(typed);
  const reply = await withClient(deps, (client) =>
    client.getMetrics({ since, until, groups: [...CHANNELS] }, { signal: deps.signal }).catch(noReply),
  );
  const title = typed.title ?? nameOf(reply) ?? "Customer survey";
  // A trend chooses among answers, never among the surveys that were sent.
  const rates = trend === null && reply !== null ? ratesOf(reply.json, areRatesOpen(until, typed.asOf)) : null;
  return { ...typed, title, rates };
}

/** A service without these groups says nothing about them. */
function noReply(error: unknown): null {
  if (error instanceof RefusedError) return null;
  throw error;
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
