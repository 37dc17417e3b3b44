import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import type { Page } from "../../../../src/client/client.ts";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { readText } from "../../../helpers/read-text.ts";
import { summarizeQueue } from "../../../../src/service/domain/delivery/oversight.ts";
import { openEmbeddedService, type EmbeddedService } from "../../../helpers/embedded-service.ts";
import { size } from "../../../helpers/long.ts";
import { seededRandom } from "../../../helpers/seeded-random.ts";
import { startPlanServer, type SmtpPlanServer } from "../../../helpers/smtp-plan-server.ts";
import { createWarpedClock, type WarpedClock } from "../../../helpers/warped-clock.ts";
import { listAll, schedule } from "./mailing.ts";

const ENDS = {
  ok: "sent",
  "450x2": "sent",
  "421x1": "sent",
  "greylist-60s": "sent",
  "dot-451x1": "sent",
  "452-4.2.2-fullx1": "sent",
  "550-5.1.1": "bounced",
  "552": "failed",
  "550-5.7.1-spamhaus": "held",
  "550-5.1.1-blocked": "held",
} as const;
type Plan = keyof typeof ENDS;
const FAULTS = (Object.keys(ENDS) as Plan[]).filter((plan) => plan !== "ok");

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).toReversed()) await stop();
});

interface World extends EmbeddedService {
  readonly server: SmtpPlanServer;
  readonly clock: WarpedClock;
}

async function startWorld(): Promise<World> {
  const clock = createWarpedClock();
  const server = await startPlanServer({ now: () => clock.now(), keepsText: false });
  const embedded = await openEmbeddedService({ clock, smtp: { port: server.port } });
  open.push(server.stop, () => embedded.close());
  return { ...embedded, server, clock };
}

function addresses(count: number, share: number): string[] {
  const chance = seededRandom(5);
  const each = Math.round(count * share);
  const plans = FAULTS.flatMap((plan) => Array.from({ length: each }, () => plan as Plan));
  const all = [...plans, ...Array.from({ length: count - plans.length }, () => "ok" as const)];
  return all
    .map((plan, at) => ({ address: `${plan}+${at}@d${at % 40}.example`, place: chance() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ address }) => address);
}

const planOf = (address: string | null): Plan => (address?.split("+")[0] ?? "ok") as Plan;

/** Advances the clock whenever nothing is in flight, until every survey reaches a final state. */
async function sendAll({ service, clock }: World, onStep: (sent: number) => void = () => undefined): Promise<void> {
  service.start();
  let quiet = 0;
  for (let step = 0; step < 100_000; step += 1) {
    await sleep(10);
    const { states } = await service.store.read(summarizeQueue);
    onStep(states.sent);
    quiet = states.claimed + states.transmitting === 0 ? quiet + 1 : 0;
    if (states.scheduled + states.claimed + states.transmitting + states.retrying === 0) return;
    if (quiet < 2) continue;
    clock.advance(60_000);
    quiet = 0;
  }
  throw new Error("the mailing did not come to its end");
}

const emails = async (pages: AsyncIterable<Page>): Promise<string[]> => {
  const rows: JsonObject[] = [];
  for await (const page of pages) rows.push(...page.rows);
  return rows.map(({ email }) => email as string).toSorted();
};

async function metrics({ service }: World): Promise<Record<string, number>> {
  const response = await service.handle({ method: "GET", url: "http://embedded.test/metrics", headers: {} });
  const lines = (await readText(response)).split("\n").filter((line) => line.startsWith("surveyctl_"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
  );
}

async function expectEnds(world: World, people: readonly string[]): Promise<void> {
  const { service, server, client } = world;
  const rows = await service.store.read(listAll);
  const wrong = rows.filter(({ email, state }) => state !== ENDS[planOf(email)]);
  expect(wrong.map(({ email, state, reason }) => `${email} ${state} ${reason}`)).toEqual([]);
  const of = (end: string): string[] => people.filter((address) => ENDS[planOf(address)] === end).toSorted();
  expect(server.accepted.map(({ to }) => to).toSorted()).toEqual(of("sent"));
  expect(await emails(client.listBounces({}))).toEqual(of("bounced"));
  expect(await emails(client.listUnsubscribes({}))).toEqual([]);
  const told = await metrics(world);
  const total = (outcome: string) => told[`surveyctl_delivery_total{channel="email",outcome="${outcome}"}`];
  expect([total("sent"), total("bounced"), total("failed"), total("unknown")]).toEqual([
    of("sent").length,
    of("bounced").length,
    of("failed").length,
    0,
  ]);
  expect(told['surveyctl_delivery_queue{state="held"}']).toBe(of("held").length);
  expect(told['surveyctl_smtp_reply_total{stage="final-dot",code="250"}']).toBe(of("sent").length);
}

it("when recipients differ, then each gets one message or none, and exactly the unknown addresses have bounced", async () => {
  const world = await startWorld();
  const people = addresses(size(60, 2000), 0.03);
  await schedule(world.service.store, people);
  await sendAll(world);
  await expectEnds(world, people);
  expect(world.server.accepted.length).toBeGreaterThan(people.length / 2);
}, 600_000);

function usedMemory(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

it("when a mailing is long and 2 % of each fault come, then memory stays flat and the metrics add up to the rows", async () => {
  const world = await startWorld();
  const count = size(120, 20_000);
  const people = addresses(count, 0.02);
  await schedule(world.service.store, people);
  const memory: { early?: number } = {};
  await sendAll(world, (sent) => {
    if (sent > count / 4) memory.early ??= usedMemory();
  });
  const grown = (usedMemory() - (memory.early ?? 0)) / 1e6;
  if (process.env.SHOW_FIGURES === "1") console.log({ count, grownMB: grown });
  expect(grown).toBeLessThan(16);
  await expectEnds(world, people);
}, 1_800_000);
