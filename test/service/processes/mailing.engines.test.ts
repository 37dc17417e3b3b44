/** Three processes send from the same data while some are killed or frozen. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { isLong, size } from "../../helpers/long.ts";
import { startRawSmtp, type RawSmtpOptions, type RawSmtpStub } from "../../helpers/raw-smtp-stub.ts";
import { seededRandom } from "../../helpers/seeded-random.ts";
import type { DeliveryRow } from "../../../src/service/domain/ports.ts";
import { LIFE_SECONDS } from "../../../src/service/domain/delivery/living.ts";
import { listAll, schedule } from "../delivery/once/mailing.ts";
import { type Fleet, type Member, newPlace, startFleet } from "./fleet.ts";

const PEOPLE = size(400, 20_000);
const KILLS = size(3, 30);
/** Long enough for a frozen process to lose its lease. */
const STILL_MS = (LIFE_SECONDS + 12) * 1000;
/** Has to cover the lease, the next poll and one message. */
const PATIENCE_MS = size(240_000, 1_800_000);

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).toReversed()) await stop();
});

interface World {
  readonly fleet: Fleet;
  readonly stub: RawSmtpStub;
  readonly rows: () => Promise<readonly DeliveryRow[]>;
}

async function startWorld(
  people: number,
  { rate, ...smtp }: RawSmtpOptions & { readonly rate: string },
): Promise<World> {
  const place = await newPlace();
  const store = await place.open();
  open.push(place.remove, () => store.close());
  await schedule(
    store,
    Array.from({ length: people }, (_, at) => `p${at}@example.org`),
  );
  const stub = await startRawSmtp({ ...smtp, keep: (text) => /^To: .*?([^\s<]+@[^\s>]+)/m.exec(text)?.[1] ?? "" });
  open.push(stub.stop);
  const args = [
    "--smtp",
    `smtp://127.0.0.1:${stub.port}`,
    "--smtp-from",
    "us@example.com",
    "--smtp-rate",
    rate,
    "--local-links",
  ];
  const fleet = await startFleet(place, { count: 3, args });
  open.push(fleet.stop);
  return { fleet, stub, rows: () => store.read(listAll) };
}

const isOpen = ({ state }: DeliveryRow): boolean => !["sent", "unknown"].includes(state);

async function untilDone({ rows }: World): Promise<readonly DeliveryRow[]> {
  await expect
    .poll(async () => (await rows()).filter(isOpen).length, { timeout: PATIENCE_MS, interval: size(500, 3000) })
    .toBe(0);
  return rows();
}

function compare({ stub }: World, rows: readonly DeliveryRow[]) {
  const arrived = new Set<string | null>(stub.messages);
  const emails = (state: string): (string | null)[] =>
    rows.filter((row) => row.state === state).map((row) => row.email);
  const [sent, unknown] = [emails("sent"), emails("unknown")];
  const accounted = new Set([...sent, ...unknown]);
  return {
    twice: stub.messages.length - arrived.size,
    idsTwice: stub.dots.length - new Set(stub.dots).size,
    sentToNobody: sent.filter((email) => !arrived.has(email)),
    unaccounted: stub.messages.filter((email) => !accounted.has(email)),
    ended: sent.length + unknown.length,
    unknown: unknown.length,
  };
}

const fine = { twice: 0, idsTwice: 0, sentToNobody: [], unaccounted: [] };

describe("three processes that mail from the same data", () => {
  // Leases run on the wall clock: 30 seconds, several times over.
  it(
    `when one is killed ${KILLS} times and one stands still past its lease, then nobody gets two, and none is lost`,
    { timeout: size(150_000, 3_600_000) },
    async () => {
      const world = await startWorld(PEOPLE, { replyDelayMs: 10, rate: `${size(40, 100)}/s` });
      const { fleet, stub } = world;
      const chance = seededRandom(20_261_123);
      const pick = (): Member => fleet.members[Math.floor(chance() * fleet.members.length)]!;
      await expect.poll(() => stub.dots.length, { timeout: 60_000 }).toBeGreaterThan(20);
      const still = pick();
      still.freeze();
      const since = Date.now();
      for (let kill = 0; kill < KILLS; kill += 1) {
        await sleep(size(500, 1000) * (0.5 + chance()));
        const victims = fleet.members.filter((member) => member !== still);
        await victims[Math.floor(chance() * victims.length)]!.signal("SIGKILL");
        await fleet.start();
      }
      await sleep(Math.max(0, since + STILL_MS - Date.now()));
      still.thaw();
      const rows = await untilDone(world);
      // Gives the thawed process time to send what it had claimed.
      await sleep(2000);
      const found = compare(world, rows);
      if (process.env.SHOW_FIGURES === "1") console.log({ PEOPLE, KILLS, dots: stub.dots.length, ...found });
      expect(found).toEqual({ ...fine, ended: PEOPLE, unknown: found.unknown });
      // Each kill leaves at most one unknown message per connection.
      expect(found.unknown).toBeLessThanOrEqual((KILLS + 1) * 4);
    },
  );

  it.runIf(isLong)("when the mail server answers after two leases, then it gets no second message", async () => {
    const world = await startWorld(6, { replyDelayMs: 2 * LIFE_SECONDS * 1000, rate: "100/s" });
    expect(compare(world, await untilDone(world))).toEqual({ ...fine, ended: 6, unknown: 0 });
  });
});
