import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { silentLog } from "../../../src/runtime/log.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { nextDueAt } from "../domain/next-due-at.ts";
import { changeReminder } from "../../../src/service/domain/delivery/reminders.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import { unsubscribe } from "../../../src/service/domain/people/suppressions.ts";
import { addProject } from "../../../src/service/domain/projects/projects.ts";
import { changeSettings } from "../../../src/service/domain/projects/settings.ts";
import { addMember } from "../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { configureAutopilot } from "../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { openTestService, type TestService } from "../../helpers/test-service.ts";
import { createChance } from "../../../src/service/rehearsal/simulated.ts";
import { toPeriods } from "../../../src/service/rehearsal/periods.ts";
import { rehearse } from "../../../src/service/rehearsal/rehearse.ts";
import { memberInput, sendInput } from "../domain/fixture.ts";
import { deliveriesOf } from "../domain/lists.ts";

const DAY = 86_400;
const START = Date.parse("2026-11-24T20:00:00Z") / 1000;
const MEMBERS = 60;

let folder: string;
let dataFile: string;
const time = { now: START };
const clock = { now: () => time.now * 1000, monotonic: () => time.now * 1000, sleep: () => Promise.resolve() };

const open = (): Promise<TestService> =>
  openTestService({
    dataFile,
    clock,
    random: systemRandom,
    log: silentLog,
    publicUrl: "https://survey.test",
    rateLimit: null,
  });

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-rehearsal-test-"));
  dataFile = path.join(folder, "survey.db");
  time.now = START;
  const service = await open();
  await service.store.write(
    async (tx) => {
      const project = await addProject(tx, "Acme");
      await changeSettings(tx, project, { timeZone: "Europe/Berlin", dailyLimit: "3" });
      await configureAutopilot(tx, project, "email", { frequency: 30 * DAY });
      await changeReminder(tx, project, { after: 4 * DAY });
      for (let n = 1; n <= MEMBERS; n += 1)
        await addMember(tx, project, memberInput({ personEmail: `p${n}@x.co`, personName: `P ${n}` }));
      await unsubscribe(tx, project, "p1@x.co");
      await sendPerson(tx, project, sendInput({ email: "single@x.co", delaySeconds: 3 * DAY }));
      await addProject(tx, "Other");
    },
    { project: "all" },
  );
  await service.close();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const run = (until: number, answerRate = 0, project = "Acme") =>
  rehearse({
    dataFile,
    clock,
    random: systemRandom,
    project,
    until,
    answerRate,
    chance: createChance(7),
    onMoment: async () => undefined,
    signal: new AbortController().signal,
  });

async function serve(until: number): Promise<string[]> {
  const service = await open();
  const sent: string[] = [];
  const seen = new Set<string>();
  for (;;) {
    await service.finishDue();
    const next = await service.store.read(async (tx) => {
      const project = await tx.projects.byName("Acme");
      for (const row of await deliveriesOf(tx, project?.id ?? 0, "sent")) {
        const line = `${row.email} ${row.sentAt}`;
        if (!seen.has(line)) sent.push(line);
        seen.add(line);
      }
      return nextDueAt(tx, ["email", "sms", "reminder", "sms-reminder"]);
    });
    if (next === null || next > until) break;
    time.now = Math.max(next, time.now + 1);
  }
  await service.close();
  return sent;
}

const hash = async (): Promise<string> =>
  createHash("sha256")
    .update(await readFile(dataFile))
    .digest("hex");

test("when the same time is rehearsed and served, then the same people are surveyed at the same moments", async () => {
  const until = START + 70 * DAY;
  const before = await hash();
  const { messages, held, withoutAddress, zone } = await run(until);
  expect(await hash()).toBe(before);
  const surveys = messages.filter(({ kind }) => kind === "survey");
  expect(surveys.length).toBeGreaterThan(MEMBERS);
  expect(messages.length - surveys.length).toBeGreaterThan(MEMBERS);
  expect([zone, withoutAddress]).toEqual(["Europe/Berlin", 0]);
  expect(new Set(held.map(({ why }) => why))).toEqual(new Set(["unsubscribed", "limit", "window"]));
  expect(surveys.filter(({ platform }) => platform === null).map(({ email }) => email)).toEqual(["single@x.co"]);
  const real = await serve(until);
  expect(surveys.map(({ email, sent_at: at }) => `${email} ${at}`).toSorted()).toEqual(real.toSorted());
});

test("when more are due than may leave, then each is told that a closed window or the day's limit held back, once", async () => {
  const service = await open();
  await service.store.write(
    async (tx) => {
      const project = await addProject(tx, "Waiting");
      await changeSettings(tx, project, { dailyLimit: "10" });
      // It's Tuesday evening, so they wait for the window.
      await configureAutopilot(tx, project, "email", {
        first: "now",
        frequency: 90 * DAY,
        days: "mon-fri",
        hours: "5-10",
      });
      for (let n = 1; n <= 30; n += 1) await addMember(tx, project, memberInput({ personEmail: `w${n}@x.co` }));
    },
    { project: "all" },
  );
  await service.close();
  const { held, messages } = await run(START + 10 * DAY, 0, "Waiting");
  expect(messages).toHaveLength(30);
  const opens = Date.parse("2026-11-25T05:00:00Z") / 1000;
  expect(held.filter(({ why }) => why === "window").map(({ at }) => at)).toEqual(Array(30).fill(START));
  expect(held.filter(({ why }) => why === "limit").map(({ at }) => at)).toEqual(Array(20).fill(opens));
  const periods = toPeriods(
    { since: START, until: START + 10 * DAY, zone: "UTC", messages, held, withoutAddress: 0 },
    "month",
  );
  expect(periods.map((row) => row.held_limit)).toEqual([20, 0]);
});

test("when some answer, then there are fewer reminders; the same seed gives the same", async () => {
  const until = START + 40 * DAY;
  const [none, some, again] = [await run(until), await run(until, 0.9), await run(until, 0.9)];
  const reminders = ({ messages }: typeof none): number => messages.filter(({ kind }) => kind === "reminder").length;
  expect(reminders(some)).toBeLessThan(reminders(none));
  expect(again.messages).toEqual(some.messages);
});

test("when a reminder would be sent, then it has the platform of its survey", async () => {
  const { messages } = await run(START + 40 * DAY);
  const platforms = messages.filter(({ kind }) => kind === "reminder").map(({ email, platform }) => [email, platform]);
  expect(platforms.length).toBeGreaterThan(1);
  expect(platforms.filter(([, platform]) => platform === null)).toEqual([["single@x.co", null]]);
});

test("when a rehearsal is shown by period, then every period of it is there, and all add up", async () => {
  const rehearsal = await run(START + 45 * DAY);
  const { messages } = rehearsal;
  for (const by of ["day", "week", "month"] as const) {
    const rows = toPeriods(rehearsal, by);
    expect(rows.reduce((sum, row) => sum + row.surveys + row.reminders, 0)).toBe(messages.length);
  }
  expect(toPeriods(rehearsal, "day")).toHaveLength(46);
  expect(toPeriods(rehearsal, "week").map(({ period }) => period)).toEqual([
    "2026-W48",
    "2026-W49",
    "2026-W50",
    "2026-W51",
    "2026-W52",
    "2026-W53",
    "2027-W01",
  ]);
  expect(toPeriods(rehearsal, "month").map(({ period }) => period)).toEqual(["2026-11", "2026-12", "2027-01"]);
});

test("when there is no such project, then it says so", async () => {
  await expect(
    rehearse({
      dataFile,
      clock,
      random: systemRandom,
      project: "nope",
      until: START + 1,
      answerRate: 0,
      chance: createChance(1),
      onMoment: async () => undefined,
      signal: new AbortController().signal,
    }),
  ).rejects.toThrow('there is no project "nope"');
});
