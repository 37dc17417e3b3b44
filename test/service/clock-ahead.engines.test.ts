import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import { type LogFields, silentLog } from "../../src/runtime/log.ts";
import { systemRandom } from "../../src/runtime/random.ts";
import { LIFE_SECONDS } from "../../src/service/domain/delivery/living.ts";
import { sendPerson } from "../../src/service/domain/people/people.ts";
import { addProject } from "../../src/service/domain/projects/projects.ts";
import type { Project } from "../../src/service/domain/inputs.ts";
import { readText } from "../helpers/read-text.ts";
import { databaseOf } from "../helpers/postgres.ts";
import { openTestService, type TestService } from "../helpers/test-service.ts";
import { sendInput } from "./domain/fixture.ts";
import { readLead, takeClockBack } from "../../src/service/domain/write-time.ts";

const YEARS_MS = 10 * 365 * 86_400_000;
const stops: (() => unknown)[] = [];
const state = { offsetMs: 0, warnings: [] as [string, LogFields][] };
const clock: Clock = { ...systemClock, now: () => systemClock.now() + state.offsetMs };
const nowSeconds = (): number => Math.floor(systemClock.now() / 1000);

let service: TestService;
let project: Project;
beforeEach(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-ahead-"));
  const database = await databaseOf(null);
  Object.assign(state, { offsetMs: 0, warnings: [] });
  service = await openTestService({
    dataFile: path.join(folder, "survey.db"),
    ...(database === null ? {} : { database: { url: database.url, mayMigrate: true, time: "clock" } }),
    clock,
    random: systemRandom,
    log: { ...silentLog, warn: (event, fields) => void state.warnings.push([event, fields]) },
    publicUrl: null,
    rateLimit: null,
  });
  stops.push(
    () => rm(folder, { recursive: true, force: true }),
    () => database?.giveBack(),
    () => service.close(),
  );
  project = await service.store.write((tx) => addProject(tx, "default"), { project: "all" });
});
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

const ask = (email: string): Promise<unknown> =>
  service.store.write((tx) => sendPerson(tx, project, sendInput({ email, delaySeconds: 5 })), { project: "all" });
const waits = async (): Promise<(number | null)[]> =>
  service.store.read(async (tx) => {
    const found = [];
    for (const email of ["ahead@x.co", "later@x.co"]) found.push(await tx.people.byEmail(project.id, email));
    return found.map((person) => (person?.nextSurveyAt ?? NaN) - nowSeconds());
  });
const page = async (name: string): Promise<string> => {
  const request = { method: "GET", url: `https://survey.test${name}`, headers: {}, from: "127.0.0.1" };
  return readText(await service.handle(request));
};
const until = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await systemClock.sleep(10);
};

test("surveys asked for afterwards leave by the clock, and the log, /readyz and /metrics name the lead", async () => {
  state.offsetMs = YEARS_MS;
  await ask("ahead@x.co");
  state.offsetMs = 0;
  await ask("later@x.co");
  const [ahead, later] = await waits();
  expect(ahead).toBeGreaterThan(YEARS_MS / 1000 - 60);
  expect([later! > 0, later! <= 6]).toEqual([true, true]);
  expect(await page("/readyz")).toMatch(/^\{"status":"ready","clock_behind_seconds":3153\d{5}\}$/);
  expect(await page("/metrics")).toMatch(/^surveyctl_clock_behind_seconds 3153\d{5}$/m);
  service.start();
  await until(() => state.warnings.length > 0);
  expect(state.warnings).toEqual([
    ["clock_behind", expect.objectContaining({ message: expect.stringContaining("see service clock") as string })],
  ]);
});

test("service clock --reset takes everything back that would wait for the later time", async () => {
  state.offsetMs = YEARS_MS;
  await ask("ahead@x.co");
  await service.store.write(
    async (tx) => {
      const person = await tx.people.byEmail(project.id, "ahead@x.co");
      await tx.people.update(project.id, person?.id ?? 0, { lastSentAt: tx.now });
      await tx.projects.setLimitedUntil(project.id, tx.now + 86_400);
      await tx.queue.beat("a process that was killed", LIFE_SECONDS);
    },
    { project: "all" },
  );
  state.offsetMs = 0;
  await ask("later@x.co");
  expect(await service.store.read(readLead)).toBeGreaterThan(0);
  await service.store.write(takeClockBack, { project: "all", isLong: true });
  expect(await service.store.read(readLead)).toBe(0);
  for (const wait of await waits()) expect([wait! > 0, wait! <= 6]).toEqual([true, true]);
  await service.store.read(async (tx) => {
    expect((await tx.people.byEmail(project.id, "ahead@x.co"))?.lastSentAt).toBeLessThanOrEqual(tx.now);
    expect((await tx.projects.byId(project.id))?.limitedUntil).toBeLessThanOrEqual(tx.now);
    expect(await tx.queue.living(LIFE_SECONDS)).toEqual([]);
  });
  expect(await service.store.check()).toEqual([]);
  expect(await page("/readyz")).toBe('{"status":"ready"}');
});

test("a process that was killed under the later time lives no longer than any other", async () => {
  state.offsetMs = YEARS_MS;
  await service.store.write((tx) => tx.queue.beat("killed", LIFE_SECONDS), { project: "all" });
  const beat = (): Promise<readonly string[]> =>
    service.store.write((tx) => tx.queue.beat("living", LIFE_SECONDS), { project: "all" });
  state.offsetMs = 0;
  expect(await beat()).toEqual(["killed", "living"]);
  state.offsetMs = (LIFE_SECONDS + 1) * 1000;
  expect(await beat()).toEqual(["living"]);
});

test("a limit of the day counts only what left on that day", async () => {
  await service.admin({ kind: "settings", project: "default", daily_limit: "1" });
  await service.store.write((tx) => sendPerson(tx, project, sendInput({ email: "ahead@x.co" })), { project: "all" });
  state.offsetMs = YEARS_MS;
  await service.finishDue();
  state.offsetMs = 0;
  const { sent, projects } = await service.admin({ kind: "delivery.status" });
  expect([sent, projects[0]]).toEqual([1, expect.objectContaining({ sent_today: 0 })]);
});
