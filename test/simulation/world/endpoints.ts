/** Webhook endpoints, connected to the service's dispatcher. */
import { createHmac } from "node:crypto";
import type { Clock } from "../../../src/runtime/clock.ts";
import type { AttemptEnd } from "../../../src/service/domain/webhooks/attempts.ts";
import type { EventTransport } from "../seams/seams.ts";
import { add, type Ledger, type TakenEvent } from "../checks/ledger.ts";
import type { Chance } from "./chance.ts";
import type { Trace } from "./trace.ts";
import type { Weather } from "./weather.ts";

export const ENDPOINT_SPELLS = ["down", "error", "overloaded", "gone", "stall"] as const;
export const ENDPOINT_MISHAPS = ["error", "cut", "stall", "overloaded"] as const;
export type EndpointMode = (typeof ENDPOINT_SPELLS)[number] | (typeof ENDPOINT_MISHAPS)[number];

export interface EndpointsOptions {
  readonly chance: Chance;
  readonly weather: Weather<EndpointMode>;
  readonly ledger: Ledger;
  readonly trace: Trace;
  readonly now: () => number;
}

/** The signing secret of all endpoints. */
export const WEBHOOK_SECRET = "whsec_c2ltdWxhdGVkLXNlY3JldC1vZi13ZWJob29rcw==";
const STALL_MS = 15_000;

export function endpointUrl(project: string): string {
  return `https://hooks.example/${project}`;
}

export function createEndpoints(options: EndpointsOptions): (clock: Clock) => EventTransport {
  const { chance, weather } = options;
  return (clock) => ({
    post: async (target, headers, body, signal) => {
      const end = (status: number | null, text: string, retryAfter: number | null = null): AttemptEnd => {
        options.trace.add(`webhook ${target.url}: ${status ?? text}`);
        return { status, text, retryAfter, ms: 1 };
      };
      const mode = weather.now();
      if (await wasAborted(clock.sleep(chance.whole(1, 400), signal))) return null;
      if (mode === "down") return end(null, "the connection was refused");
      if (mode === "error") return end(500, "oh no");
      if (mode === "overloaded") return end(429, "slow down", chance.whole(1, 120));
      if (mode === "gone") return end(410, "gone");
      const taken = takeEvent(options, target.url, headers, body);
      if (mode === "stall" || mode === "cut") {
        if (mode === "stall" && (await wasAborted(clock.sleep(STALL_MS, signal)))) return null;
        return end(null, "no answer");
      }
      if (await wasAborted(clock.sleep(chance.whole(1, 400), signal))) return null;
      taken.isKnown = true;
      return end(200, "ok");
    },
    close: () => undefined,
  });
}

async function wasAborted(sleep: Promise<void>): Promise<boolean> {
  return sleep.then(
    () => false,
    () => true,
  );
}

interface EventBody {
  readonly event_type: string;
  readonly event_id: string;
  readonly event_data: { readonly comment?: string | null; readonly email?: string | null };
}

function takeEvent(
  { ledger, trace, now }: EndpointsOptions,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): TakenEvent {
  const project = url.slice(url.lastIndexOf("/") + 1);
  const { event_id: id, event_data: data, event_type: type } = JSON.parse(body) as EventBody;
  const signed = createHmac("sha256", WEBHOOK_SECRET).update(body).digest("hex");
  if (!Object.values(headers).includes(`sha256=${signed}`)) ledger.violate(`an event to ${url} is not signed`);
  const name = type === "unsubscribe.created" ? `leave ${data.email}` : (data.comment ?? "");
  trace.count("events");
  const owner =
    type === "unsubscribe.created" ? /@(\w+)\./.exec(data.email ?? "")?.[1] : ledger.given.get(name)?.project;
  if (owner === undefined) ledger.violate(`${url} got an event about what never happened: ${name}`);
  else if (owner !== project) ledger.violate(`${url} got an event of ${owner}`);
  const event: TakenEvent = { id, atMs: now(), isKnown: false };
  const before = (ledger.events.get(name) ?? []).filter((one) => one.id === id);
  const isExcused = before.every((one) => !one.isKnown || ledger.deaths.some((atMs) => atMs >= one.atMs));
  if (!isExcused) ledger.violate(`${url} got the event ${name} again after it had taken it`);
  add(ledger.events, name, event);
  return event;
}
