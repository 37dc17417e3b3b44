import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { isLong, size } from "../../../helpers/long.ts";
import { A_MINUTE_LATER } from "../../../helpers/run-cli.ts";
import { startRawSmtp, type RawSmtpStub } from "../../../helpers/raw-smtp-stub.ts";
import { seededRandom } from "../../../helpers/seeded-random.ts";
import { countWaiting, createMailing, type Mailing } from "./mailing.ts";

const CONNECTIONS = 4;
const KILLS = size(1, 200);
const SPEED = ["--smtp-rate", "1000/s", "--smtp-connections", String(CONNECTIONS)];

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of open.splice(0).toReversed()) await stop();
});

/** The slow replies let a kill hit a message at any stage. */
async function startWorld(people: number): Promise<{ mailing: Mailing; stub: RawSmtpStub; args: readonly string[] }> {
  const mailing = await createMailing(Array.from({ length: people }, (_, at) => `p${at}@example.org`));
  const stub = await startRawSmtp({ replyDelayMs: 10 });
  open.push(mailing.remove, stub.stop);
  return { mailing, stub, args: ["--smtp", `smtp://127.0.0.1:${stub.port}`, ...SPEED] };
}

async function serveAndKill({ mailing, stub, args }: Awaited<ReturnType<typeof startWorld>>, chance: () => number) {
  const server = mailing.serve(args);
  await server.url;
  const until = stub.dots.length + Math.floor(chance() * 12);
  while (stub.dots.length < until && server.child.exitCode === null) await sleep(1);
  await sleep(chance() * 15);
  server.child.kill("SIGKILL");
  await server.ended;
}

/** Sends the rest, with the clock a minute ahead so that the dead server's claims have expired. */
async function finish({ mailing, args }: Awaited<ReturnType<typeof startWorld>>): Promise<void> {
  const server = mailing.serve(args, A_MINUTE_LATER);
  await server.url;
  await expect.poll(() => countWaiting(mailing.dataFile), { timeout: size(60_000, 600_000), interval: 100 }).toBe(0);
  server.child.kill("SIGTERM");
  expect((await server.ended).status).toBe(0);
}

function received(stub: RawSmtpStub): string[] {
  return stub.messages.map((text) => /^To: .*?([^\s<]+@[^\s>]+)/m.exec(text)?.[1] ?? "");
}

it(`when serve is killed ${KILLS} times, then no message arrives twice, and what is missing is listed as unknown`, async () => {
  const people = KILLS * 20;
  const world = await startWorld(people);
  const chance = seededRandom(20_261_122);
  const marked: number[] = [];
  const seen = new Set<string | null>();
  for (let kill = 0; kill < KILLS; kill += 1) {
    await serveAndKill(world, chance);
    // A server killed right after its start leaves the previous one's rows, so count only the new ones.
    const rows = (await world.mailing.rows()).filter(({ state }) => state === "transmitting");
    marked.push(rows.filter(({ email }) => !seen.has(email)).length);
    for (const { email } of rows) seen.add(email);
  }
  await finish(world);
  const { stub, mailing } = world;
  const got = received(stub);
  expect([new Set(stub.dots).size, new Set(got).size]).toEqual([stub.dots.length, got.length]);
  const rows = await mailing.rows();
  const unknown = rows.filter(({ state }) => state === "unknown").map(({ email }) => email);
  const sent = rows.filter(({ state }) => state === "sent").map(({ email }) => email);
  expect(sent.length + unknown.length).toBe(people);
  // Everything marked sent arrived, and everything that arrived is marked sent or unknown.
  const [arrived, accounted] = [new Set<string | null>(got), new Set([...sent, ...unknown])];
  expect(sent.filter((email) => !arrived.has(email))).toEqual([]);
  expect(got.filter((email) => !accounted.has(email))).toEqual([]);
  expect(Math.max(...marked)).toBeLessThanOrEqual(CONNECTIONS);
  expect(unknown).toHaveLength(seen.size);
  const figures = { KILLS, people, dots: stub.dots.length, sent: sent.length, unknown: unknown.length };
  if (process.env.SHOW_FIGURES === "1") console.log({ ...figures, atMostInOneKill: Math.max(...marked) });
  // A few kills can all hit the gaps between messages.
  expect(unknown.length).toBeGreaterThanOrEqual(size(0, 1));
});

const HOOK = path.join(import.meta.dirname, "../../../helpers/kill-at-mark.cjs");

type Moment = readonly [string, { readonly dots: number; readonly states: readonly (readonly string[])[] }];
const MOMENTS: readonly Moment[] = [
  ["before-mark", { dots: 2, states: [["sent", "transmitting"], ["claimed"]] }],
  ["after-mark", { dots: 2, states: [["sent"], ["transmitting"]] }],
  ["after-dot", { dots: 3, states: [["sent"], ["transmitting"]] }],
  ["before-settle", { dots: 3, states: [["sent"], ["transmitting"]] }],
];

/**
 * With one connection only one message is in flight. The second is recorded as sent no later than the third is marked.
 */
it.each(isLong ? MOMENTS : MOMENTS.slice(1, 3))(
  "when serve is killed %s of the third message, then one message at most is unknown",
  async (moment, expected) => {
    const world = await startWorld(8);
    const { mailing, stub } = world;
    const args = [...world.args, "--smtp-connections", "1"];
    const env = { NODE_OPTIONS: `--require ${HOOK}`, KILL_AT: `${moment} ${stub.port} 3` };
    expect((await mailing.serve(args, env).ended).signal).toBe("SIGKILL");
    const found = (await mailing.rows()).map(({ state }) => state);
    expect(stub.dots).toHaveLength(expected.dots);
    expect(found[0]).toBe("sent");
    for (const [at, states] of expected.states.entries()) expect(states).toContain(found[at + 1]);
    await finish({ ...world, args });
    const after = found.map((state) => (state === "transmitting" ? "unknown" : "sent"));
    expect((await mailing.rows()).map(({ state }) => state)).toEqual(after);
    const arrived = moment === "after-mark" ? 7 : 8;
    expect([stub.dots.length, new Set(stub.dots).size, new Set(received(stub)).size]).toEqual([
      arrived,
      arrived,
      arrived,
    ]);
  },
);
