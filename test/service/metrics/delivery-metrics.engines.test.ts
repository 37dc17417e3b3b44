import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { readText } from "../../helpers/read-text.ts";
import { markTransmitting } from "../../../src/service/domain/delivery/deliveries.ts";
import { openEmbeddedService, type EmbeddedService } from "../../helpers/embedded-service.ts";
import { claimDue } from "../domain/claim-due.ts";

const time = { now: 1_750_000_000, passedMs: 0 };
const state: { world?: EmbeddedService } = {};
const world = (): EmbeddedService => state.world as EmbeddedService;
beforeEach(async () => {
  time.now = 1_750_000_000;
  state.world = await openEmbeddedService({
    clock: { ...systemClock, now: () => time.now * 1000, monotonic: () => time.passedMs },
  });
});
afterEach(() => world().close());

const schedule = (email: string, delay: number): Promise<unknown> => world().client.sendPerson({ email, delay });

/** Nonzero delivery metrics. By default time advances far enough for the cached values to expire. */
async function metrics(passedMs: number = 10_000): Promise<string[]> {
  time.passedMs += passedMs;
  const response = await world().service.handle({ method: "GET", url: "http://embedded.test/metrics", headers: {} });
  const lines = (await readText(response)).split("\n");
  const names = /^surveyctl_(?:delivery_(?!duration)|surveys_)/;
  return lines.filter((line) => names.test(line) && !line.endsWith(" 0")).toSorted();
}

it("when surveys wait and are sent, then the queue, its age and each outcome are told", async () => {
  await schedule("a@x.co", 0);
  await schedule("b@x.co", 60);
  time.now += 7;
  expect(await metrics()).toEqual([
    'surveyctl_delivery_queue{state="scheduled"} 2',
    "surveyctl_surveys_due 1",
    "surveyctl_surveys_oldest_due_age_seconds 7",
  ]);
  await schedule("c@x.co", 3600);
  expect((await metrics(9_999))[0]).toBe('surveyctl_delivery_queue{state="scheduled"} 2');
  expect((await metrics(1))[0]).toBe('surveyctl_delivery_queue{state="scheduled"} 3');
  await world().service.finishDue();
  expect(await metrics()).toEqual([
    'surveyctl_delivery_queue{state="scheduled"} 2',
    'surveyctl_delivery_total{channel="email",outcome="sent"} 1',
  ]);
});

it("when the outbox cannot be written, then it is told, and the survey goes out later, once", async () => {
  const outbox = path.join(world().folder, "outbox");
  await writeFile(outbox, "a file where the folder should be");
  await schedule("a@x.co", 0);
  await world().service.finishDue();
  expect(await metrics()).toEqual([
    'surveyctl_delivery_queue{state="retrying"} 1',
    'surveyctl_delivery_total{channel="email",outcome="retry"} 1',
  ]);
  await rm(outbox);
  await mkdir(outbox, { mode: 0o700 });
  time.now += 15;
  await world().service.finishDue();
  const { surveys } = await world().service.admin({ kind: "delivery.show", project: "default", email: "a@x.co" });
  expect(surveys.map(({ state: name, attempts, log }) => [name, attempts, log.map(({ outcome }) => outcome)])).toEqual([
    ["sent", 2, ["retry", "sent"]],
  ]);
});

it("when a process died after it had marked a message, then it is unknown, and nothing sends it again", async () => {
  await schedule("a@x.co", 0);
  const { store, admin } = world().service;
  await store.write(
    async (tx) => {
      const [due] = await claimDue(tx, { claimer: "dead", channel: "email", leaseSeconds: 300, limit: 1 });
      if (due !== undefined) await markTransmitting(tx, due);
    },
    { project: "all" },
  );
  await world().service.finishDue();
  time.now += 86_400;
  await world().service.finishDue();
  expect(await metrics()).toEqual(["surveyctl_delivery_unknown 1"]);
  const resolve = { kind: "delivery.resolve", project: "default", id: "3", outcome: "resend" } as const;
  expect(await admin(resolve)).toMatchObject({ state: "retrying" });
  await expect(admin(resolve)).rejects.toThrow("survey 3 is retrying, not unknown");
  await world().service.finishDue();
  expect(await metrics()).toEqual(['surveyctl_delivery_total{channel="email",outcome="sent"} 1']);
});
