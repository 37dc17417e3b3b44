import { afterEach, describe, expect, it, test } from "vitest";
import { Webhook } from "standardwebhooks";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { systemClock } from "../../../src/runtime/clock.ts";
import { deletePerson } from "../../../src/service/domain/people/people.ts";
import { enableWebhook, redeliver, rotateSecret } from "../../../src/service/domain/webhooks/webhooks.ts";
import { createFakeClock } from "../../helpers/fake-clock.ts";
import { size } from "../../helpers/long.ts";
import {
  answering,
  hanging,
  type HookPlan,
  type HookReceiver,
  largeBody,
  startHookReceiver,
  tricklingHeaders,
} from "../../helpers/hook-receiver.ts";
import { START } from "../domain/fixture.ts";
import { createHandClock, type HandClock, type HookFixture, openHookFixture, SECRET } from "./fixture.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function open(
  plans: Readonly<Record<string, HookPlan>> = {},
): Promise<HookFixture<HandClock> & { readonly receiver: HookReceiver }> {
  const receiver = await startHookReceiver(plans);
  const fixture = await openHookFixture(createHandClock());
  closing.push(receiver.close, fixture.close);
  fixture.dispatcher.start();
  return { ...fixture, receiver };
}

const DAY = 86_400;

const busyAtFirst: HookPlan = (n, response) => {
  response.writeHead(n === 1 ? 429 : 200, n === 1 ? { "retry-after": "100" } : {});
  response.end();
};

const pem = (name: string): string =>
  readFileSync(path.join(import.meta.dirname, "../../fixtures/tls", `${name}.pem`), "utf8");

describe("a receiver without a certificate that can be trusted", () => {
  it.each([
    ["self-signed", "cert", "the certificate cannot be trusted (self-signed certificate, DEPTH_ZERO_SELF_SIGNED_CERT)"],
    ["expired", "expired", "the certificate cannot be trusted (certificate has expired, CERT_HAS_EXPIRED)"],
    ["absent, as for plain http", null, "the TLS handshake failed; is it plain http?"],
  ])("when it is %s, then it gets nothing, the log names it, and the event is tried again", async (_, cert, text) => {
    const receiver = await startHookReceiver({}, cert === null ? null : { cert: pem(cert), key: pem("key") });
    const { add, answer, settled, dispatcher, close } = await openHookFixture(createHandClock());
    closing.push(receiver.close, close);
    dispatcher.start();
    const hook = await add(`https://127.0.0.1:${receiver.port}/hook`);
    await answer();
    const [delivery] = await settled(hook);
    expect(receiver.received).toEqual([]);
    expect([delivery?.state, delivery?.log.map(({ status, text: told }) => [status, told])]).toEqual([
      "waiting",
      [[null, text]],
    ]);
    expect((delivery?.dueAt ?? 0) - START).toBeGreaterThanOrEqual(4);
  });
});

describe("an event", () => {
  test("when somebody answers, then the endpoint gets it, signed in both ways", async () => {
    const { receiver, add, answer, settled, webhook } = await open();
    const hook = await add(`${receiver.url}/ok`);
    const personId = await answer("ada@example.com", 3);
    const [delivery] = await settled(hook);
    const [got] = receiver.received;
    const { headers, body } = got!;
    const event = JSON.parse(body) as { event_id: string; event_data: { id: string; permalink: string } };
    expect(event).toEqual({
      event_type: "survey_response.created",
      event_id: expect.stringMatching(/^[0-9a-f]{64}$/),
      event_data: {
        id: expect.any(String),
        person: { id: personId, email: "ada@example.com", name: null, created_at: START, phone_number: null },
        survey_type: "nps",
        score: 3,
        comment: null,
        permalink: expect.stringMatching(/^https:\/\/surveys\.example\/r\/[\w-]{22}\?expires=\d+&signature=[\w-]{43}$/),
        created_at: START,
        updated_at: START,
        person_properties: {},
        notes: [],
        tags: [],
        additional_answers: [],
      },
    });
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": expect.stringMatching(/^surveyctl\/\d/),
      "webhook-id": event.event_id,
      "webhook-timestamp": String(START),
    });
    expect(headers["x-webhook-signature"]).toBe(`sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`);
    expect(delivery).toEqual({
      event: 4,
      eventId: event.event_id,
      type: "survey_response.created",
      state: "delivered",
      attempts: 1,
      createdAt: START,
      dueAt: null,
      log: [{ n: 1, at: START, status: 200, ms: 0, text: "answer 1" }],
    });
    expect(await webhook(hook)).toMatchObject({ failingSince: null, lastDeliveredAt: START });
  });

  test("when the standard's own library checks it, then it is genuine, and not when a byte differs", async () => {
    const receiver = await startHookReceiver();
    const { add, answer, dispatcher, settled, close } = await openHookFixture(systemClock);
    closing.push(receiver.close, close);
    dispatcher.start();
    const hook = await add(`${receiver.url}/ok`);
    await answer();
    await settled(hook);
    const { body, headers } = receiver.received[0]!;
    const verifier = new Webhook(SECRET);
    const given = headers as Record<string, string>;
    expect(verifier.verify(body, given)).toEqual(JSON.parse(body));
    expect(() => verifier.verify(`${body} `, given)).toThrow("No matching signature found");
  });

  test("when its secret is being replaced, then both sign, and after that the new one alone", async () => {
    const { receiver, add, answer, settled, store, project, clock } = await open();
    const hook = await add(`${receiver.url}/ok`);
    const secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const rotation = { secret, overlapSeconds: 60 };
    await store.write((tx) => rotateSecret(tx, project, String(hook.id), rotation), { project: "all" });
    const signatures = async (): Promise<(string | undefined)[]> => {
      await answer();
      await settled(hook);
      const { headers, body } = receiver.received.at(-1)!;
      const signed = [headers["webhook-id"], headers["webhook-timestamp"], body].join(".");
      const by = (key: string): string =>
        `v1,${createHmac("sha256", Buffer.from(key.slice(6), "base64"))
          .update(signed)
          .digest("base64")}`;
      const found = String(headers["webhook-signature"]).split(" ");
      const own = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
      expect(headers["x-webhook-signature"]).toBe(own);
      return found.map((one) => [secret, SECRET].find((key) => by(key) === one));
    };
    expect(await signatures()).toEqual([secret, SECRET]);
    await clock.advance(60);
    expect(await signatures()).toEqual([secret]);
  });

  test("when an endpoint wants some scores alone, then it gets those", async () => {
    const { receiver, add, answer, settled } = await open();
    const hook = await add(`${receiver.url}/low`, { scores: { from: 0, to: 6 } });
    for (const score of [7, 6, 10, 0]) await answer(undefined, score);
    await settled(hook);
    const scores = receiver.received.map(
      ({ body }) => (JSON.parse(body) as { event_data: { score: number } }).event_data.score,
    );
    expect(scores.toSorted((left, right) => left - right)).toEqual([0, 6]);
  });

  test("when a person is deleted, then nothing of theirs waits or is kept", async () => {
    const { store, project, add, answer, deliveries } = await open();
    const hook = await add("http://127.0.0.1:9/closed", { events: ["survey_response.created"] });
    const id = await answer();
    await store.write((tx) => deletePerson(tx, project, { by: "id", id }), { project: "all" });
    expect(await deliveries(hook)).toEqual([]);
    expect(await store.check()).toEqual([]);
  });

  test("when a person is deleted while events wait in memory, then none of these is sent", async () => {
    const held: { release: () => void } = { release: () => undefined };
    const holding: HookPlan = (n, response) => {
      const end = (): void => void response.writeHead(200).end();
      if (n === 1) held.release = end;
      else end();
    };
    const { receiver, store, project, add, answer, answerAgain, settled, dispatcher, errors } = await open({
      "/hook": holding,
    });
    const hook = await add(`${receiver.url}/hook`);
    const id = await answer("ada@example.com", 1);
    for (const score of [2, 3]) await answerAgain(id, score);
    await receiver.until("/hook", 1);
    await answer("bob@example.com", 4);
    // Bob's event is read after Ada's, so Ada's are in memory by now.
    await receiver.until("/hook", 2);
    await store.write((tx) => deletePerson(tx, project, { by: "id", id }), { project: "all" });
    held.release();
    await answer("eve@example.com", 5);
    await settled(hook, (all) => all.every(({ state }) => state === "delivered"));
    await dispatcher.stop();
    const scores = receiver.received.map(
      ({ body }) => (JSON.parse(body) as { event_data: { score: number } }).event_data.score,
    );
    expect([scores, errors]).toEqual([[1, 4, 5], []]);
  });
});

const REDIRECTED = expect.stringMatching(
  /^redirected to http:\/\/127\.0\.0\.1:\d+\/secret; webhooks follow no redirects: add one for that address$/,
) as string;

describe("an endpoint that fails", () => {
  it.each<[string, HookPlan, number | null, string]>([
    ["answers 302", (_, response) => void response.writeHead(302, { location: "/secret" }).end(), 302, REDIRECTED],
    ["answers 500", answering(500), 500, "answer 1"],
    ["closes the connection", (_, response) => void response.destroy(), null, "the connection broke"],
    [
      "does not speak HTTP",
      (_, { socket }) => void socket?.end("220 smtp.example ESMTP\r\n"),
      null,
      "the answer is not HTTP",
    ],
  ])("when it %s, then the same bytes come again later", async (_, plan, status, text) => {
    const { receiver, add, answer, settled, clock, deliveries } = await open({ "/hook": plan });
    const hook = await add(`${receiver.url}/hook`);
    await answer();
    const [first] = await settled(hook);
    expect(first).toMatchObject({ state: "waiting", attempts: 1, log: [{ n: 1, at: START, status, text }] });
    expect(first!.dueAt! - START).toBeGreaterThanOrEqual(4);
    expect(first!.dueAt! - START).toBeLessThanOrEqual(6);
    await clock.advance(6);
    await receiver.until("/hook", 2);
    await settled(hook, ([one]) => one?.attempts === 2);
    expect((await deliveries(hook))[0]?.log).toHaveLength(2);
    const [one, other] = receiver.on("/hook");
    expect(other!.body).toBe(one!.body);
    expect(other!.headers["webhook-id"]).toBe(one!.headers["webhook-id"]);
    expect(other!.headers["webhook-signature"]).not.toBe(one!.headers["webhook-signature"]);
    expect(receiver.on("/secret")).toEqual([]);
  });

  test("when it fails three times, then the fourth attempt delivers", async () => {
    const { receiver, add, answer, settled, clock, webhook } = await open({ "/hook": answering(500, 500, 503, 200) });
    const hook = await add(`${receiver.url}/hook`);
    await answer();
    const statuses = [500, 500, 503, 200];
    for (const [index, pause] of [6, 72, 360, 0].entries()) {
      const [delivery] = await settled(hook, ([one]) => one?.attempts === index + 1);
      expect(delivery!.log.map(({ status }) => status)).toEqual(statuses.slice(0, index + 1));
      await clock.advance(pause);
    }
    expect(await webhook(hook)).toMatchObject({ failingSince: null, lastDeliveredAt: expect.any(Number) });
  });

  it.each<[string, HookPlan]>([
    ["never answers", hanging],
    ["sends its headers too slowly", tricklingHeaders],
  ])("when it %s, then the attempt ends after 15 seconds", async (_, plan) => {
    const { receiver, add, answer, settled, clock } = await open({ "/hook": plan });
    const hook = await add(`${receiver.url}/hook`);
    await answer();
    await receiver.until("/hook", 1);
    await clock.advance(15);
    const [delivery] = await settled(hook);
    expect(delivery!.log).toEqual([{ n: 1, at: START + 15, status: null, ms: 15_000, text: "no answer within 15 s" }]);
  });

  test("when it answers with 5 MB, then that is a success, and one kilobyte of it is kept", async () => {
    const { receiver, add, answer, settled } = await open({ "/hook": largeBody(5_000_000) });
    const hook = await add(`${receiver.url}/hook`);
    await answer();
    const [delivery] = await settled(hook);
    expect(delivery).toMatchObject({ state: "delivered", log: [{ status: 200, text: "x".repeat(1024) }] });
  });

  test("when it answers 410, then it is disabled, said once, and events wait until it is enabled", async () => {
    const { receiver, add, answer, settled, webhook, lines, store, project, dispatcher } = await open({
      "/hook": answering(410, 200),
    });
    const hook = await add(`${receiver.url}/hook`);
    await answer();
    await settled(hook);
    await answer();
    expect(await webhook(hook)).toMatchObject({ disabledAt: START, disabledReason: "it answered 410 Gone" });
    await expect.poll(() => lines).toHaveLength(1);
    const { host } = new URL(receiver.url);
    const message = `webhook ${hook.id} is disabled: it answered 410 Gone; events wait for it for 7 days`;
    const fields = { project: "default", webhook: hook.id, host, message };
    expect(lines).toEqual([{ event: "webhook_disabled", fields }]);
    expect(receiver.received).toHaveLength(1);
    await store.write((tx) => enableWebhook(tx, project, String(hook.id)), { project: "all" });
    dispatcher.wake();
    const all = await settled(hook, (some) => some.every(({ state }) => state === "delivered"));
    expect(all.map(({ attempts }) => attempts)).toEqual([1, 2]);
  });

  test("when it answers 410 to several events in flight, then that is said once", async () => {
    const gone: (() => void)[] = [];
    const { receiver, add, answer, settled, lines } = await open({
      "/hook": (_, response) => void gone.push(() => response.writeHead(410).end()),
    });
    const hook = await add(`${receiver.url}/hook`);
    for (let n = 0; n < 3; n += 1) await answer();
    await receiver.until("/hook", 3);
    for (const end of gone) end();
    const deliveries = await settled(hook, (all) => all.every(({ log }) => log.length === 1));
    expect(deliveries.map(({ log }) => log[0]?.status)).toEqual([410, 410, 410]);
    expect(lines.map(({ event }) => event)).toEqual(["webhook_disabled"]);
  });

  test("when it has been disabled for more than 7 days, then events are counted and not kept", async () => {
    const { receiver, add, answer, settled, webhook, clock, deliveries } = await open({ "/hook": answering(410) });
    const hook = await add(`${receiver.url}/hook`);
    await answer();
    await settled(hook);
    await clock.advance(7 * DAY);
    await answer();
    await clock.advance(1);
    await answer();
    expect(await deliveries(hook)).toHaveLength(2);
    expect(await webhook(hook)).toMatchObject({ missed: 1 });
  });

  test("when it says 429 and when to come again, then all its events wait until then", async () => {
    const { receiver, add, answer, settled, webhook, clock } = await open({ "/hook": busyAtFirst });
    const hook = await add(`${receiver.url}/hook`);
    const person = await answer();
    await settled(hook);
    expect(await webhook(hook)).toMatchObject({ strikes: 1, slowUntil: START + 100 });
    await answer();
    await clock.advance(99);
    await new Promise((resolve) => void setTimeout(resolve, 50));
    expect(receiver.received).toHaveLength(1);
    await clock.advance(1);
    const all = await settled(hook, (some) => some.every(({ state }) => state === "delivered"));
    expect(all).toHaveLength(2);
    expect(person).not.toBe("");
    expect(await webhook(hook)).toMatchObject({ strikes: 0, slowUntil: null });
  });
});

test.each([-60, 3, 60])(
  "when the machine's clock is %d seconds ahead of the store's, then it sleeps until an event is due by the store's",
  async (ahead) => {
    const receiver = await startHookReceiver({
      "/hook": (_, response) => response.writeHead(429, { "retry-after": "30" }).end(),
    });
    const store = createHandClock();
    const naps: number[] = [];
    const sleep: typeof store.sleep = (ms, signal) => {
      naps.push(ms);
      return store.sleep(ms, signal);
    };
    const clock = { ...store, now: () => store.now() + ahead * 1000, sleep };
    const { add, answer, settled, dispatcher, close } = await openHookFixture(store, { clock });
    closing.push(receiver.close, close);
    dispatcher.start();
    const hook = await add(`${receiver.url}/hook`);
    await answer();
    const [delivery] = await settled(hook);
    await expect.poll(() => naps.at(-1)).toBe(((delivery?.dueAt ?? 0) - START) * 1000);
    await new Promise((resolve) => void setTimeout(resolve, 50));
    expect(naps.at(-1)).toBe(((delivery?.dueAt ?? 0) - START) * 1000);
  },
);

test("when an attempt ends within a second, then the next one is not sooner than the endpoint asked for", async () => {
  const { receiver, add, answer, settled, clock } = await open({ "/hook": busyAtFirst });
  const hook = await add(`${receiver.url}/hook`);
  await clock.advance(0.9);
  await answer();
  await settled(hook);
  await clock.advance(99.5);
  await new Promise((resolve) => void setTimeout(resolve, 50));
  expect(receiver.received).toHaveLength(1);
  await clock.advance(0.6);
  const [delivery] = await settled(hook, (some) => some.every(({ state }) => state === "delivered"));
  expect(delivery?.log.map(({ at, status }) => [at - START, status])).toEqual([
    [0, 429],
    [101, 200],
  ]);
});

test("when attempts are refused for days, then the event is given up after 11, and the endpoint disabled after 5 days", async () => {
  const clock = createFakeClock(START * 1000);
  const { add, answer, dispatcher, settled, webhook, close, lines } = await openHookFixture(clock);
  closing.push(close);
  const hook = await add("http://10.0.0.1/hook", { allowPrivate: false });
  await answer();
  dispatcher.start();
  const [delivery] = await settled(hook, ([one]) => one?.state === "failed");
  expect(delivery!.log).toHaveLength(11);
  expect(new Set(delivery!.log.map(({ text }) => text))).toEqual(new Set(["10.0.0.1, a private address"]));
  const gaps = delivery!.log.slice(1).map(({ at }, index) => at - delivery!.log[index]!.at);
  const steps = [5, 60, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
  // The clock jumps by a minute each time a write waits for reads or the disk.
  const early = gaps.filter((gap, index) => gap < steps[index]! * 0.79);
  const late = gaps.filter((gap, index) => gap > steps[index]! * 1.21 + 5 * 60);
  expect({ early, late }).toEqual({ early: [], late: [] });
  await answer();
  await settled(hook, () => lines.length > 0);
  const { disabledAt, failingSince, disabledReason } = await webhook(hook);
  expect(disabledReason).toBe("it failed for 5 days");
  expect(disabledAt! - failingSince!).toBeGreaterThanOrEqual(5 * DAY);
});

const ANSWERS = size(110, 200);

test("when one endpoint hangs, then another's events arrive at once", async () => {
  const receiver = await startHookReceiver({ "/hang": hanging });
  const { add, answer, dispatcher, settled, close } = await openHookFixture(systemClock);
  closing.push(receiver.close, close);
  dispatcher.start();
  await add(`${receiver.url}/hang`);
  const hook = await add(`${receiver.url}/ok`);
  const starts: number[] = [];
  for (let count = 0; count < ANSWERS; count += 1) {
    starts.push(performance.now());
    await answer();
  }
  await settled(hook, (all) => all.every(({ state }) => state === "delivered"));
  const times = receiver.on("/ok").map(({ at }, index) => at - starts[index]!);
  const p99 = times.toSorted((left, right) => left - right)[Math.floor(times.length * 0.99)]!;
  expect(times).toHaveLength(ANSWERS);
  // The hanging receiver times out after 15 s. Only the long run has the machine to itself, so only it measures
  // latency.
  expect(p99).toBeLessThan(size(5_000, 200));
});

test("when a person's answers come fast, then their events arrive one after another, in order", async () => {
  const running = { now: 0, most: 0 };
  const slow: HookPlan = (_, response) => {
    running.now += 1;
    running.most = Math.max(running.most, running.now);
    setTimeout(() => {
      running.now -= 1;
      response.writeHead(200).end();
    }, 5);
  };
  const { receiver, add, answer, answerAgain, settled } = await open({ "/hook": slow });
  const hook = await add(`${receiver.url}/hook`);
  const person = await answer("ada@example.com", 0);
  for (let score = 1; score <= 10; score += 1) await answerAgain(person, score);
  await settled(hook, (all) => all.length === 11 && all.every(({ state }) => state === "delivered"));
  const scores = receiver.received.map(
    ({ body }) => (JSON.parse(body) as { event_data: { score: number } }).event_data.score,
  );
  expect(scores).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(running.most).toBe(1);
});

test("when events are to be sent again, then they come with the same id and the same bytes", async () => {
  const { receiver, add, answer, settled, store, project, dispatcher } = await open();
  const hook = await add(`${receiver.url}/hook`);
  for (let count = 0; count < 3; count += 1) await answer();
  await settled(hook);
  const page = { after: 0, limit: 100 };
  const again = (which: Parameters<typeof redeliver>[3]): ReturnType<typeof redeliver> =>
    store.write((tx) => redeliver(tx, project, String(hook.id), which, page), { project: "all" });
  expect(await again({ which: "failed" })).toBeNull();
  expect(await again({ which: "since", since: START + 1 })).toBeNull();
  expect(await again({ which: "since", since: START })).toEqual({ last: 10, count: 3 });
  dispatcher.wake();
  await settled(hook, (all) => all.every(({ log }) => log.length === 2));
  const bodies = receiver.received.map(({ body }) => body);
  expect(bodies.slice(3).toSorted()).toEqual(bodies.slice(0, 3).toSorted());
  await expect(again({ which: "event", eventId: "none" })).rejects.toThrow("has no event none to send again");
});
