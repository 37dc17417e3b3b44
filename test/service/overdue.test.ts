import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import type { LogFields } from "../../src/runtime/log.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { systemRandom } from "../../src/runtime/random.ts";
import { NO_SENDER } from "../../src/service/delivery/message/sender.ts";
import { parseSmtpUrl } from "../../src/service/delivery/smtp/smtp-url.ts";
import { sendPerson } from "../../src/service/domain/people/people.ts";
import { addProject } from "../../src/service/domain/projects/projects.ts";
import { openTestService, type TestService } from "../helpers/test-service.ts";
import { startPlanServer } from "../helpers/smtp-plan-server.ts";
import { createWarpedClock } from "../helpers/warped-clock.ts";
import { sendInput } from "./domain/fixture.ts";

const DAY_MS = 86_400_000;
const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

test("when surveys were due for days, then they are held and all is paused, the log says so, and resuming sends them", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-overdue-"));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const mail = await startPlanServer();
  stops.push(mail.stop);
  const clock = createWarpedClock();
  const warnings: [string, LogFields][] = [];
  const open = (): Promise<TestService> =>
    openTestService({
      dataFile: path.join(folder, "survey.db"),
      clock,
      random: systemRandom,
      log: { ...silentLog, warn: (event, fields) => void warnings.push([event, fields]) },
      publicUrl: "https://survey.example.com",
      rateLimit: null,
      sender: { ...NO_SENDER, from: "survey@example.com" },
      mail: {
        server: parseSmtpUrl(`smtp://127.0.0.1:${mail.port}`),
        certificates: null,
        rate: { count: 1000, perSeconds: 1 },
        connections: 2,
        dkim: null,
        onlyTo: null,
      },
      maxAgeSeconds: 3 * 86_400,
    });
  const before = await open();
  await before.store.write(
    async (tx) => {
      const project = await addProject(tx, "default");
      for (let n = 0; n < 51; n += 1) await sendPerson(tx, project, sendInput({ email: `ok+${n}@example.org` }));
    },
    { project: "all" },
  );
  await before.close();
  clock.advance(4 * DAY_MS);
  const service = await open();
  stops.push(() => service.close());
  service.start();
  const message = "51 messages were due more than 72 hours ago and are held";
  const paused = "no survey is sent: more than 50 surveys were due more than 24 hours ago";
  await expect
    .poll(() => warnings)
    .toEqual([
      ["sending_paused", { since: expect.any(Number), message: paused }],
      ["surveys_overdue", { held: 51, max_age_seconds: 259_200, message }],
    ]);
  expect(await service.admin({ kind: "delivery.resume" })).toEqual({ released: 51 });
  expect(mail.accepted).toEqual([]);
  await service.admin({ kind: "resume", project: null });
  await expect.poll(() => mail.accepted.length, { timeout: 30_000 }).toBe(51);
});

test("when 60 surveys are 39 hours late and there is no mail server, then all is paused too until it is resumed", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-overdue-"));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const clock = createWarpedClock();
  const warnings: [string, LogFields][] = [];
  const open = (): Promise<TestService> =>
    openTestService({
      dataFile: path.join(folder, "survey.db"),
      clock,
      random: systemRandom,
      log: { ...silentLog, warn: (event, fields) => void warnings.push([event, fields]) },
      publicUrl: null,
      rateLimit: null,
    });
  const written = async (): Promise<number> =>
    (await readdir(path.join(folder, "outbox")).catch(() => [])).filter((name) => name.endsWith(".eml")).length;
  const before = await open();
  await before.store.write(
    async (tx) => {
      const project = await addProject(tx, "default");
      for (let n = 0; n < 60; n += 1) await sendPerson(tx, project, sendInput({ email: `late+${n}@example.org` }));
    },
    { project: "all" },
  );
  await before.close();
  clock.advance(39 * 3_600_000);
  const service = await open();
  stops.push(() => service.close());
  service.start();
  const message = "no survey is sent: more than 50 surveys were due more than 24 hours ago";
  await expect.poll(() => warnings).toEqual([["sending_paused", { since: expect.any(Number), message }]]);
  expect([await service.admin({ kind: "delivery.status" }), await written()]).toMatchObject([
    { scheduled: 60, held: 0, paused_at: expect.any(Number) },
    0,
  ]);
  await service.admin({ kind: "resume", project: null });
  await expect.poll(written, { timeout: 30_000 }).toBe(60);
});
