import { afterEach, beforeEach, expect, it } from "vitest";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import type { SenderState } from "../../../src/service/domain/ports.ts";
import type { DueDigest } from "../../../src/service/domain/ports.ts";
import type { PacedSender } from "../../../src/service/sending/pacing/paced-transport.ts";
import { openSmtpSender, type SmtpSenderOptions } from "../../../src/service/sending/mail-sender.ts";
import { HEALTHY_SENDER, type SenderHealth } from "../../../src/service/sending/pacing/sender-health.ts";
import { SmtpTransport } from "../../../src/service/delivery/smtp/smtp-transport.ts";
import type { SmtpResult } from "../../../src/service/delivery/smtp/smtp-types.ts";
import { parseSmtpUrl } from "../../../src/service/delivery/smtp/smtp-url.ts";
import { Heartbeat } from "../../../src/service/sending/heartbeat.ts";
import { Scheduler } from "../../../src/service/sending/scheduler.ts";
import { startRawSmtp } from "../../helpers/raw-smtp-stub.ts";
import { startPlanServer, type SmtpPlanServer } from "../../helpers/smtp-plan-server.ts";
import { createWarpedClock, type WarpedClock } from "../../helpers/warped-clock.ts";
import { openFixture, sendInput, type Fixture } from "../domain/fixture.ts";
import { deliveriesOf } from "../domain/lists.ts";

const CONNECTIONS = 4;
const MINUTE = 60_000;

interface World {
  readonly fixture: Fixture;
  readonly clock: WarpedClock;
  readonly sender: PacedSender;
  readonly scheduler: Scheduler;
  readonly results: SmtpResult[];
  readonly changes: string[];
  readonly errors: unknown[];
  readonly stop: () => Promise<void>;
}

const state: { fixture?: Fixture; clock?: WarpedClock; open: (() => Promise<void>)[] } = { open: [] };
beforeEach(async () => {
  const [fixture, clock] = [await openFixture(), createWarpedClock()];
  Object.defineProperty(fixture.time, "now", { get: () => clock.now() / 1000 });
  Object.assign(state, { fixture, clock });
});
afterEach(async () => {
  for (const close of state.open.splice(0).toReversed()) await close();
  await state.fixture?.store.close();
});

async function openWorld(url: string, more: Partial<SmtpSenderOptions> = {}): Promise<World> {
  const { fixture, clock } = state as { fixture: Fixture; clock: WarpedClock };
  const [results, changes, errors]: [SmtpResult[], string[], unknown[]] = [[], [], []];
  const links: { scheduler?: Scheduler } = {};
  const transport = new SmtpTransport({
    server: parseSmtpUrl(url),
    certificates: null,
    connections: CONNECTIONS,
    clock,
  });
  const sender = await openSmtpSender({
    transport: {
      close: () => transport.close(),
      send: async (message, progress) => {
        const result = await transport.send(message, progress);
        results.push(result);
        return result;
      },
    },
    connections: CONNECTIONS,
    rate: { count: 1000, perSeconds: 1 },
    store: fixture.store,
    clock,
    random: { fraction: () => 0.5 },
    render: async ({ token, ...due }) => ({
      message: {
        from: "us@example.com",
        to: ("person" in due ? due.person.email : due.email) ?? "",
        bytes: Buffer.from(`Message-ID: <${token}@example.com>\r\n\r\nHello\r\n`),
        needsSmtpUtf8: false,
      },
      frozen: { messageId: `${token}@example.com`, bounceToken: null, values: {} },
    }),
    mayReceive: () => true,
    process: "one",
    wake: () => links.scheduler?.wake(),
    onChange: ({ mode }, isHealed) => {
      changes.push(mode);
      if (isHealed)
        void fixture
          .write((tx) => tx.deliveries.releaseHeld(500, { isOperator: false }))
          .then(() => links.scheduler?.wake());
    },
    onError: (error) => errors.push(error),
    ...more,
  });
  const scheduler = new Scheduler({
    store: fixture.store,
    clock,
    claimer: "one",
    heartbeat: new Heartbeat({ store: fixture.store, clock, claimer: "one", onUnknown: "hold" }),
    senders: [sender],
    maxAgeSeconds: null,
    onUnknown: "hold",
    onOutcome: () => undefined,
    onError: (error) => errors.push(error),
  });
  links.scheduler = scheduler;
  const stop = async (): Promise<void> => {
    await scheduler.stop();
    await sender.close();
  };
  state.open.push(stop);
  return { fixture, clock, sender, scheduler, results, changes, errors, stop };
}

async function plan(): Promise<SmtpPlanServer> {
  const server = await startPlanServer();
  state.open.push(server.stop);
  return server;
}

const schedule = async (emails: readonly string[]): Promise<void> => {
  const fixture = state.fixture as Fixture;
  await fixture.write(async (tx) => {
    for (const email of emails) await sendPerson(tx, fixture.project, sendInput({ email }));
  });
};

/** State, attempts and reason of each survey, by the local part of the address. */
async function rows(): Promise<Record<string, string>> {
  const fixture = state.fixture as Fixture;
  const listed = await fixture.read((tx) => deliveriesOf(tx, fixture.project.id));
  return Object.fromEntries(
    listed.map((row) => [row.email?.split("@")[0] ?? "", [row.state, row.attempts, row.reason ?? ""].join(" ").trim()]),
  );
}

const counted = async (): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const row of Object.values(await rows())) {
    const [name = ""] = row.split(" ");
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
};

const isQuiet = (counts: Record<string, number>): boolean =>
  "unknown" in counts && !("claimed" in counts || "transmitting" in counts);

const settled = async (expected: Record<string, number>): Promise<void> => {
  await expect.poll(counted, { timeout: 20_000, interval: 20 }).toEqual(expected);
};

it("when each recipient has a plan, then each survey ends as its reply means, and only one person is marked", async () => {
  const server = await plan();
  const { scheduler, fixture, errors } = await openWorld(`smtp://127.0.0.1:${server.port}`);
  const locals = ["ok+1", "550-5.1.1+2", "450+3", "550-5.7.1-spamhaus+4", "552+5", "ok+6"];
  await schedule(locals.map((local) => `${local}@example.org`));
  scheduler.start();
  await settled({ sent: 2, bounced: 1, retrying: 1, held: 1, failed: 1 });
  expect(await rows()).toEqual({
    "ok+1": "sent 1",
    "550-5.1.1+2": "bounced 1",
    "450+3": "retrying 1",
    "550-5.7.1-spamhaus+4": "held 0 Service unavailable; client host blocked using zen.spamhaus.org",
    "552+5": "failed 1 Message too large",
    "ok+6": "sent 1",
  });
  const people = await Promise.all(
    locals.map((local) => fixture.read((tx) => tx.people.byEmail(fixture.project.id, `${local}@example.org`))),
  );
  expect(people.map((person) => person?.bouncedAt !== null)).toEqual([false, true, false, false, false, false]);
  const log = await fixture.read(async (tx) => {
    const [, second] = await deliveriesOf(tx, fixture.project.id);
    return tx.deliveries.attempts(fixture.project.id, second?.requestId ?? 0, 10);
  });
  expect(log.map(({ at: _at, ms: _ms, ...row }) => row)).toEqual([
    {
      n: 1,
      stage: "rcpt-to",
      code: 550,
      enhancedCode: "5.1.1",
      text: "The address does not exist",
      host: "127.0.0.1",
      serverId: null,
      message: "survey",
      outcome: "bounced",
    },
  ]);
  expect(errors).toEqual([]);
});

it("when the server refuses the login after a while, then few attempts are lost and all goes out when it heals", async () => {
  const server = await plan();
  const { scheduler, clock, sender, results, changes, fixture } = await openWorld(`smtp://127.0.0.1:${server.port}`);
  const refusal = { code: 535, text: "5.7.8 Authentication credentials invalid" };
  await schedule(Array.from({ length: 30 }, (_, at) => `ok+${at}@example.org`));
  scheduler.start();
  await settled({ sent: 30 });
  Object.assign(server.faults, { mailFrom: refusal });
  await schedule(Array.from({ length: 40 }, (_, at) => `ok+later${at}@example.org`));
  scheduler.wake();
  await expect.poll(() => sender.health().mode, { timeout: 20_000 }).toBe("stopped");
  await settled({ sent: 30, scheduled: 40 });
  const wasted = results.filter(({ kind }) => kind === "refused").length;
  expect(wasted).toBeLessThanOrEqual(3 + CONNECTIONS);
  expect((await fixture.read((tx) => tx.senders.list())).map(({ name, state: kept }) => [name, kept])).toEqual([
    ["smtp", expect.objectContaining({ state: "held", reason: "Authentication credentials invalid" })],
  ]);
  clock.advance(15 * MINUTE);
  await expect
    .poll(() => results.filter(({ kind }) => kind === "refused").length, { timeout: 20_000 })
    .toBe(wasted + 1);
  delete server.faults.mailFrom;
  clock.advance(15 * MINUTE);
  await settled({ sent: 70 });
  expect(changes).toEqual(["stopped", "probing", "stopped", "probing", "open"]);
  expect(new Set(server.accepted.map(({ to }) => to)).size).toBe(70);
  expect(server.accepted).toHaveLength(70);
  // Failures on the sender's side don't count as attempts.
  expect(new Set(Object.values(await rows()))).toEqual(new Set(["sent 1"]));
});

const addressOf = (local: string): string => `${local}@example.org`;

it("a good message leaves at the first probe, and what made the sender stop does not stop it again", async () => {
  const server = await plan();
  const { scheduler, sender, clock, changes } = await openWorld(`smtp://127.0.0.1:${server.port}`);
  await schedule(["550-5.7.1-spamhaus+1", "550-5.7.1-spamhaus+2", "550-5.7.1-spamhaus+3"].map(addressOf));
  scheduler.start();
  await settled({ held: 3 });
  expect(sender.health().mode).toBe("stopped");
  const dead = Array.from({ length: 5 }, (_, index) => addressOf(`550-5.1.1+${index}`));
  const refused = Array.from({ length: 5 }, (_, index) => addressOf(`550-5.7.1-spamhaus+later${index}`));
  await schedule([...dead, ...refused, addressOf("ok+1")]);
  clock.advance(15 * MINUTE);
  // The three held surveys are released and held again. The five refused ones are retried after the next probe.
  await settled({ held: 3, bounced: 5, scheduled: 5, sent: 1 });
  clock.advance(16 * MINUTE);
  await settled({ held: 8, bounced: 5, sent: 1 });
  expect(changes).toEqual(["stopped", "probing", "open"]);
  await schedule([addressOf("ok+2")]);
  scheduler.wake();
  await settled({ held: 8, bounced: 5, sent: 2 });
});

it("one mailbox's limit does not keep the others waiting", async () => {
  const server = await plan();
  const { scheduler, sender } = await openWorld(`smtp://127.0.0.1:${server.port}`);
  const limited = ["450-4.2.1-limit+1", "450-limit+2", "450-limit+3", "550-5.1.1-full+4", "550-5.1.1-full+5"];
  await schedule([...limited, "550-5.1.1-full+6", "ok+7"].map((local) => `${local}@example.org`));
  scheduler.start();
  await settled({ retrying: 3, held: 3, sent: 1 });
  expect(sender.health().mode).toBe("open");
});

it("when the process ends while it is stopped, then the next one is stopped too, until somebody resumes it", async () => {
  const server = await plan();
  Object.assign(server.faults, { mailFrom: { code: 550, text: "5.7.1 Not you" } });
  const first = await openWorld(`smtp://127.0.0.1:${server.port}`);
  await schedule(Array.from({ length: 8 }, (_, at) => `ok+${at}@example.org`));
  first.scheduler.start();
  await expect.poll(() => first.sender.health().mode, { timeout: 20_000 }).toBe("stopped");
  await first.stop();
  delete server.faults.mailFrom;
  const second = await openWorld(`smtp://127.0.0.1:${server.port}`);
  expect([second.sender.health().mode, second.sender.capacity(100)]).toEqual(["stopped", 0]);
  second.scheduler.start();
  second.sender.resume();
  await settled({ sent: 8 });
});

it("when nobody serves and an operator resumes it, then the next start begins open", async () => {
  const said = { stage: "auth", code: 535, enhancedCode: null };
  const trouble = { reason: "no", said, since: 1000, consecutive: 0, hasStopped: true };
  const kept: SenderState = {
    state: "held",
    reason: "no",
    since: 1,
    nextProbeAt: 5,
    memory: { ...(HEALTHY_SENDER as object), mode: "stopped", until: 9_000_000_000_000, patience: 0, trouble },
  };
  const openResumed = async (resumedAt: number | null): Promise<SenderHealth> => {
    await state.fixture?.write(async (tx) => {
      await tx.senders.set({ name: "smtp", process: "one", savedAt: 1000, state: kept });
      if (resumedAt !== null) await tx.senders.setState("senders resumed", resumedAt);
    });
    const { sender, stop } = await openWorld("smtp://127.0.0.1:9");
    const health = sender.health();
    await stop();
    return health;
  };
  for (const before of [null, 999]) expect(await openResumed(before)).toMatchObject({ mode: "stopped", trouble });
  expect(await openResumed(1000)).toMatchObject({ mode: "open", patience: 3 });
});

it("when the server drops each message after its dot, then few are unknown and the rest waits", async () => {
  const stub = await startRawSmtp({ afterDot: "drop" });
  state.open.push(stub.stop);
  const { scheduler, sender } = await openWorld(`smtp://127.0.0.1:${stub.port}`);
  await schedule(Array.from({ length: 30 }, (_, at) => `p${at}@example.org`));
  scheduler.start();
  await expect.poll(async () => isQuiet(await counted()), { timeout: 20_000 }).toBe(true);
  const counts = await counted();
  expect(counts["unknown"]).toBeLessThanOrEqual(CONNECTIONS);
  expect(counts).toEqual({ unknown: counts["unknown"], scheduled: 30 - (counts["unknown"] ?? 0) });
  expect([sender.health().mode, new Set(stub.dots).size]).toEqual(["waiting", stub.dots.length]);
});

it("when the rate is 20 a second, then no message leaves before its moment, whatever the connections", async () => {
  const server = await plan();
  const { scheduler } = await openWorld(`smtp://127.0.0.1:${server.port}`, { rate: { count: 20, perSeconds: 1 } });
  await schedule(Array.from({ length: 45 }, (_, at) => `ok+${at}@example.org`));
  const startedAt = Date.now();
  scheduler.start();
  await settled({ sent: 45 });
  const afterMs = server.accepted.map(({ at }) => at - startedAt).toSorted((a, b) => a - b);
  // A busy machine only delays messages, but timers can fire up to 2 ms early.
  const early = afterMs.flatMap((ms, at) => (ms < at * 50 - 2 ? [{ at, ms }] : []));
  expect([early, afterMs.length]).toEqual([[], 45]);
});

function unused(): never {
  throw new Error("nothing is rendered or marked");
}

it("when an address is not among the allowed ones, then its survey or digest is held and nothing is sent", async () => {
  const server = await plan();
  const { scheduler, sender } = await openWorld(`smtp://127.0.0.1:${server.port}`, {
    mayReceive: (address) => address.endsWith("@example.org"),
  });
  await schedule(["ok+1@example.org", "ok+2@example.com"]);
  scheduler.start();
  await settled({ sent: 1, held: 1 });
  const claim = { project: { id: 1, name: "default" }, requestId: 1, claimer: "one", claims: 1 };
  const week = { scheduledAt: 0, attempts: 0, firstAttemptAt: null, frozen: null, previousAt: null, reason: null };
  const reader = { email: "ok+3@example.com", token: "t", weekday: 1, minute: 0, zone: null, createdAt: 0 };
  const digest: DueDigest = { channel: "digest", digestId: 1, allowPrivate: false, ...claim, ...week, ...reader };
  const progress = { mayStillSend: unused, transmitting: unused, signal: new AbortController().signal };
  expect(await sender.deliver(digest, progress)).toEqual({
    kind: "held",
    reason: "mail to this address is not allowed here",
  });
  expect([await rows(), server.accepted.map(({ to }) => to)]).toEqual([
    { "ok+1": "sent 1", "ok+2": "held 0 mail to this address is not allowed here" },
    ["ok+1@example.org"],
  ]);
});
