/** What a report is asked for: the flags that reports and digests share, and what the service adds. */
import type { ApiReply } from "../../../client/client.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { CHANNELS, PROJECT_NAME_HEADER } from "../../../contract/routes.ts";
import { areRatesOpen, type ResponseRates } from "../../../insight/report/facts.ts";
import { unixSeconds } from "../../../runtime/clock.ts";
import { type Deps, withClient } from "../../kit/deps.ts";
import { RANGE_FLAGS, rangeFlags, readRange, readTime, type TimeFilter } from "../../kit/time-flags.ts";
import { nullIfRefused } from "../../kit/refusals.ts";
import type { FlagGroup } from "../../kit/flag-spec.ts";
import { lastSecond, type ReportRequest } from "./read-facts.ts";

interface PastRange extends TimeFilter {
  /** Unix seconds; later answers are left out. */
  readonly asOf: number;
}

/** Relative times such as 7d count from `--as-of`. `start` is what a missing `--since` means, for help. */
export function pastRange(start?: string): FlagGroup<PastRange> {
  return {
    records: [
      ...rangeFlags("answered").map((record) =>
        record.flag === "--since" && start !== undefined ? { ...record, otherwise: start } : record,
      ),
      {
        flag: "--as-of",
        value: "time",
        text: "count only answers up to this time, and relative times from it",
        otherwise: "now",
      },
    ],
    read(flags, deps) {
      const asOf = readTime(deps, flags, "--as-of", "last") ?? unixSeconds(deps.clock);
      const then = { ...deps, clock: { ...deps.clock, now: () => asOf * 1000 } };
      return { ...readRange(then, flags, { ...RANGE_FLAGS, asOf: "--as-of" }), asOf };
    },
  };
}

/** A title of null is the service's own name. */
export type TypedRequest = Omit<ReportRequest, "title" | "rates"> & { readonly title: string | null };

/** Resolves everything, so that the same report can be made again when more people have answered. */
export async function completeRequest(deps: Deps, typed: TypedRequest): Promise<ReportRequest> {
  const { since, trend } = typed;
  const until = lastSecond(typed);
  const reply = await withClient(deps, (client) =>
    // A service without these groups refuses them.
    nullIfRefused(client.getMetrics({ since, until, groups: [...CHANNELS] }, { signal: deps.signal })),
  );
  const title = typed.title ?? nameOf(reply) ?? "Customer survey";
  // A trend narrows the answers, but not the surveys that were sent.
  const rates = trend === null && reply !== null ? ratesOf(reply.json, areRatesOpen(until, typed.asOf)) : null;
  return { ...typed, title, rates };
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
