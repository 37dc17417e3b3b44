import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, expect, it } from "vitest";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import { addProject } from "../../../src/service/domain/projects/projects.ts";
import { openEmbeddedService, type EmbeddedService } from "../../helpers/embedded-service.ts";
import { answering, startHookReceiver } from "../../helpers/hook-receiver.ts";
import { startPlanServer } from "../../helpers/smtp-plan-server.ts";
import { createWarpedClock } from "../../helpers/warped-clock.ts";
import { sendInput } from "../domain/fixture.ts";
import { listAll, schedule } from "./once/mailing.ts";
import { deliveriesOf } from "../domain/lists.ts";

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

const SOON = { timeout: 20_000, interval: 20 };

it.each([
  ["has used up its quota", "452-dailyx1", "the sender waits after rcpt-to 452 4.5.3"],
  ["ends the connection", "421x1", "the sender waits after rcpt-to 421 4.3.2"],
])("when the server %s and heals, then a resume lets all go at once, the oldest first", async (_, plan, reason) => {
  const server = await startPlanServer();
  stops.push(server.stop);
  const smtp = { port: server.port, connections: 1 };
  const embedded = await openEmbeddedService({ clock: createWarpedClock(), smtp });
  const { service } = embedded;
  stops.push(() => embedded.close());
  const addresses = [`${plan}@example.org`, ...Array.from({ length: 9 }, (__, at) => `ok+${at}@example.org`)];
  await schedule(service.store, addresses);
  service.start();
  const waiting = async (): Promise<unknown> =>
    (await service.store.read(listAll)).map(({ state, attempts, reason: why }) => [state, attempts, why]);
  const others = addresses.slice(1).map(() => ["scheduled", 0, null]);
  await expect.poll(waiting, SOON).toEqual([["scheduled", 0, reason], ...others]);
  expect(server.accepted).toEqual([]);
  const [, code, enhancedCode] = /(\d{3}) (\S+)$/.exec(reason) ?? [];
  const { senders } = await service.admin({ kind: "delivery.status" });
  expect(senders[0]).toMatchObject({
    name: "smtp",
    state: "waiting",
    stage: "rcpt-to",
    code: Number(code),
    enhanced_code: enhancedCode,
  });
  expect(await service.admin({ kind: "delivery.resume" })).toEqual({ released: 1 });
  await expect.poll(() => server.accepted.map(({ to }) => to), SOON).toEqual(addresses);
  await expect.poll(waiting, SOON).toEqual(addresses.map(() => ["sent", 1, null]));
});

it("when the day's limit of texts is raised, then the texts that it held back leave, and before that a resume keeps it", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-resume-"));
  stops.push(() => rm(folder, { recursive: true, force: true }));
  const receiver = await startHookReceiver({ "/ok": answering(200) });
  stops.push(() => receiver.close());
  const clock = createWarpedClock();
  const open = (daily: number): Promise<EmbeddedService> =>
    openEmbeddedService({
      folder,
      clock,
      sms: {
        gateway: { url: `${receiver.url}/ok`, format: "json", header: null, from: null, fields: {} },
        mode: "link",
        limits: { daily, maxSegments: 3, countries: null, quiet: null },
        onlyTo: null,
        linkUrl: "https://s.example",
      },
    });
  const first = await open(1);
  const before = first.service;
  await before.store.write(
    async (tx) => {
      const project = await addProject(tx, "texts");
      for (const phoneNumber of ["+491701000001", "+491701000002", "+491701000003"])
        await sendPerson(tx, project, sendInput({ phoneNumber, channel: "sms" }));
    },
    { project: "all" },
  );
  before.start();
  const rowsOf = ({ store }: typeof before) =>
    store.read(async (tx) => {
      const { id = 0 } = (await tx.projects.byName("texts")) ?? {};
      return deliveriesOf(tx, id);
    });
  const states = async (service: typeof before): Promise<unknown> => {
    const rows = await rowsOf(service);
    return rows.map(({ state, reason }) => `${state}${reason === null ? "" : ", with a reason"}`).toSorted();
  };
  const waiting = ["scheduled, with a reason", "scheduled, with a reason", "sent"];
  await expect.poll(() => states(before), SOON).toEqual(waiting);
  expect(await before.admin({ kind: "delivery.resume" })).toEqual({ released: 2 });
  await expect.poll(() => states(before), SOON).toEqual(waiting);
  await first.close();
  const after = await open(3);
  stops.push(() => after.close());
  after.service.start();
  await expect.poll(() => states(after.service), SOON).toEqual(["sent", "sent", "sent"]);
  expect(receiver.received).toHaveLength(3);
  const rows = await rowsOf(after.service);
  expect(rows.filter(({ scheduledAt, sentAt }) => scheduledAt > (sentAt ?? 0))).toEqual([]);
});
