import { afterEach, describe, expect, it } from "vitest";
import { runInside } from "../../helpers/in-process.ts";
import { size } from "../../helpers/long.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";
import { ask, type Fleet, type Member, newPlace, startFleet } from "./fleet.ts";

const COMMANDS = size(25, 500);
const KILLS = size(1, 10);
const CLIENTS = 16;

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).toReversed()) await stop();
});

async function openFleet(count: number): Promise<Fleet> {
  const place = await newPlace();
  const fleet = await startFleet(place, { count });
  open.push(place.remove, fleet.stop);
  return fleet;
}

interface Traffic {
  readonly acknowledged: string[];
  readonly refusals: unknown[];
  readonly times: number[];
  readonly end: () => Promise<void>;
}

function startTraffic({ members }: Fleet): Traffic {
  const control = { isOver: false, count: 0 };
  const traffic: Omit<Traffic, "end"> = { acknowledged: [], refusals: [], times: [] };
  const save = async (member: Member): Promise<void> => {
    const email = `p${(control.count += 1)}@x.co`;
    const began = performance.now();
    const { status, json } = await ask(member.url, "POST", "/v1/people.json", { email, send: false });
    traffic.times.push(performance.now() - began);
    if (status === 201) traffic.acknowledged.push(email);
    else traffic.refusals.push([status, json]);
  };
  const clients = Array.from({ length: CLIENTS }, async (_, at) => {
    while (!control.isOver) {
      const member = members[at % members.length]!;
      await save(member).catch((error: unknown) => {
        if (members.includes(member)) throw error;
      });
    }
  });
  const end = async (): Promise<void> => {
    control.isOver = true;
    await Promise.all(clients);
  };
  open.push(end);
  return { ...traffic, end };
}

function findLosses(fleet: Fleet, { acknowledged }: Traffic): Promise<readonly string[]> {
  return fleet.withStore(async (store) => {
    const lost = await store.read(async (tx) => {
      const missing: string[] = [];
      for (const email of acknowledged) if ((await tx.people.byEmail(1, email)) === null) missing.push(email);
      return missing;
    });
    return [...lost, ...(await store.check())];
  });
}

const COMMAND_LINES: readonly ((at: number) => string)[] = [
  (at) => `settings --soft-bounces ${2 + (at % 4)}`,
  (at) => `trend add T${at} --where plan=p${at}`,
  () => "delivery status",
  (at) => `link add L${at}`,
  () => "key list",
];

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * share)] ?? 0;
}

describe("data that is busy", () => {
  it(`when ${COMMANDS} commands run beside a server that takes all it can, then none is refused, and no row is lost`, async () => {
    const fleet = await openFleet(1);
    const traffic = startTraffic(fleet);
    await expect.poll(() => traffic.acknowledged.length).toBeGreaterThan(CLIENTS);
    const before = { ms: performance.now(), saved: traffic.acknowledged.length };
    for (let at = 0; at < COMMANDS; at += 1) {
      const line = COMMAND_LINES[at % COMMAND_LINES.length]!(at);
      const args = ["service", ...line.split(" "), ...fleet.place.args];
      const { status, stderr } = await runInside({ args, home: fleet.folder });
      expect([line, status, stderr]).toEqual([line, 0, expect.not.stringMatching(/busy|locked/i)]);
    }
    const perSecond = ((traffic.acknowledged.length - before.saved) * 1000) / (performance.now() - before.ms);
    await traffic.end();
    if (process.env.SHOW_FIGURES === "1")
      console.log({ COMMANDS, perSecond, p50: percentile(traffic.times, 0.5), p99: percentile(traffic.times, 0.99) });
    expect(traffic.refusals).toEqual([]);
    expect(await findLosses(fleet, traffic)).toEqual([]);
  });

  it(`when three processes write and one of them is killed, ${KILLS} times, then each row that was acknowledged is there`, async () => {
    const fleet = await openFleet(3);
    const traffic = startTraffic(fleet);
    const chance = seededRandom(20_261_126);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const since = traffic.acknowledged.length;
      await expect.poll(() => traffic.acknowledged.length - since).toBeGreaterThan(100);
      await fleet.members[Math.floor(chance() * 3)]!.signal("SIGKILL");
      await fleet.start();
    }
    await traffic.end();
    expect(traffic.refusals).toEqual([]);
    expect(await findLosses(fleet, traffic)).toEqual([]);
  });
});
