import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addMember } from "../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import { addProject } from "../../../src/service/domain/projects/projects.ts";
import type { InputOf } from "../../../src/service/operations/index.ts";
import { parseSmtpUrl } from "../../../src/service/delivery/smtp/smtp-url.ts";
import { erasePerson } from "../../../src/service/domain/privacy/erase.ts";
import { administer } from "../../../src/service/data-file/administer.ts";
import { openTestService } from "../../helpers/test-service.ts";
import { silentLog } from "../../../src/runtime/log.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { finishErasure } from "../../../src/service/domain/privacy/erase.ts";
import { DAY, eventsQuery, memberInput, responsesQuery, sendInput } from "../domain/fixture.ts";
import { listResponses, listUnsubscribes } from "../domain/lists.ts";
import { ADA, addAda, addOther, findTraces, metricsOf, openPrivacy, type PrivacyFixture } from "./fixture.ts";

let fixture: PrivacyFixture;
beforeEach(async () => {
  fixture = await openPrivacy();
});
afterEach(() => fixture.close());

type EraseCommand = { kind: "erase"; confirm: true; project: string | null } & InputOf<"erase">;

const COMMAND: EraseCommand = {
  kind: "erase",
  confirm: true,
  project: "default",
  email: ADA.email,
  phone_number: null,
  dry_run: false,
  properties: false,
  forget_unsubscribe: false,
};
const erase = (given: Partial<EraseCommand> = {}) => fixture.service().admin({ ...COMMAND, ...given });
const sendToAda = async (): Promise<number | null> => {
  const input = sendInput({ email: ADA.email });
  const sent = await fixture.service().store.write((tx) => sendPerson(tx, fixture.project, input), { project: "all" });
  return sent.person.survey_scheduled_at;
};
const post = (url: string, method = "POST") =>
  fixture.service().handle({ method, url: `https://survey.test${url}`, headers: {}, from: "192.0.2.1" });

describe("when a person is erased", () => {
  it("then no file has a byte of them, and the receipt counts what went", async () => {
    await addAda(fixture);
    await addOther(fixture, "bob@example.com", { score: 2, properties: { city: "London" } });
    await writeFile(await halfOfMessage(), `To: ${ADA.email}`);
    expect((await findTraces(fixture.folder)).length).toBeGreaterThan(8);
    const counts = { people: 1, responses: 1, surveys: 4, attempts: 3, memberships: 1, webhook_events: 2 };
    const shared = { projects: 1, ...counts, mentions: 0, problem: null };
    expect(await erase({ dry_run: true })).toEqual({
      ...shared,
      erased_at: null,
      messages: null,
      suppressions_kept: null,
      links_kept: null,
      verified: null,
    });
    expect(await metricsOf(fixture)).toMatchObject({ nps: 0, response_count: 2 });
    expect(await erase()).toEqual({
      ...shared,
      erased_at: fixture.time.now,
      messages: 5,
      suppressions_kept: 0,
      links_kept: 3,
      verified: true,
    });
    expect(await findTraces(fixture.folder)).toEqual([]);
    expect(await readdir(path.join(fixture.folder, "outbox"))).toEqual([]);
    expect(await fixture.service().store.check()).toEqual([]);
    expect(await metricsOf(fixture)).toMatchObject({ nps: -100, response_count: 1 });
    const nobody = `no person found with email ${ADA.email} in project default`;
    await expect(erase()).rejects.toThrow(nobody);
    await expect(erase({ dry_run: true })).rejects.toThrow(nobody);
  });

  it("who was described as others are and said what others said, then that is no trace of them", async () => {
    await addAda(fixture);
    const { store } = fixture.service();
    const properties = { title: "countess-of-lovelace", city: "London" };
    await store.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "eve@example.com", properties })), {
      project: "all",
    });
    await addOther(fixture, "bob@example.com", { score: 2, comment: ADA.comment });
    expect(await erase()).toMatchObject({ people: 1, verified: true });
    expect(await findTraces(fixture.folder, [ADA.email, ADA.name])).toEqual([]);
  });

  it("by phone and in all projects, then they are gone from each", async () => {
    const { store } = fixture.service();
    const other = await store.write((tx) => addProject(tx, "other"), { project: "all" });
    for (const project of [fixture.project, other])
      await store.write((tx) => sendPerson(tx, project, sendInput({ ...ADA, send: false })), { project: "all" });
    const all = { project: null, email: null, phone_number: ADA.phoneNumber };
    expect(await erase(all)).toMatchObject({ projects: 2, people: 2, verified: true });
    expect(await findTraces(fixture.folder, [ADA.email, ADA.name])).toEqual([]);
  });

  it("whom rows of others mention, then these are counted, and only redacted when that is asked for", async () => {
    const { store } = fixture.service();
    const bob = await addOther(fixture, "bob@example.com", {
      score: 3,
      comment: `ask ${ADA.email.toUpperCase()}, please`,
      properties: { referred_by: ADA.email, city: "London" },
    });
    const properties = { owner: `mailto:${ADA.email}` };
    await store.write(
      async (tx) => {
        await sendPerson(tx, fixture.project, sendInput({ email: "eve@example.com", name: ADA.email, properties }));
        await addMember(tx, fixture.project, memberInput({ personEmail: "eve@example.com", properties }));
      },
      { project: "all" },
    );
    fixture.time.now += DAY;
    expect(await erase()).toMatchObject({ people: 0, mentions: 5, verified: true });
    expect(await erase({ properties: true })).toMatchObject({ people: 0, mentions: 5, verified: true });
    const [response] = await store.read((tx) => listResponses(tx, fixture.project, responsesQuery(), LINKS));
    expect(response).toMatchObject({
      id: String(bob),
      comment: "ask [erased], please",
      person_properties: { referred_by: "[erased]", city: "London" },
      updated_at: fixture.time.now,
    });
    expect(await findTraces(fixture.folder, [ADA.email, ADA.email.toUpperCase()])).toEqual([]);
    expect(await store.check()).toEqual([]);
  });
});

describe("when the unsubscribe link of an erased person's mail is used", () => {
  it("then it answers as before, and whoever has the address is not written to", async () => {
    const { unsubscribeToken, token } = await addAda(fixture);
    await erase();
    const url = `/u/${unsubscribeToken}`;
    expect((await post(url, "GET")).status).toBe(200);
    expect((await post(`${url}/undo`)).status).toBe(200);
    expect((await post(`/s/${token}`)).status).toBe(404);
    expect(await sendToAda()).not.toBeNull();
    const page = await post(url);
    expect([page.status, (page.body as string).includes("<form")]).toEqual([200, false]);
    const left = await fixture.service().store.read((tx) => listUnsubscribes(tx, fixture.project, eventsQuery()));
    expect(left.map(({ email }) => email)).toEqual([ADA.email]);
    expect((await post(url)).status).toBe(200);
    await erase({ forget_unsubscribe: true });
    expect((await post(url)).status).toBe(404);
  });
});

describe("when the erasure is cut short", () => {
  it("then the next start removes the messages and overwrites what was deleted", async () => {
    await addAda(fixture);
    const { store } = fixture.service();
    await store.write((tx) => erasePerson(tx, fixture.project, { by: "email", email: ADA.email }, NO_OPTIONS), {
      project: "all",
    });
    expect(await readdir(path.join(fixture.folder, "outbox"))).toHaveLength(4);
    const service = await fixture.reopen();
    await finishErasure(service.store, service.sweepMessages);
    expect(await findTraces(fixture.folder)).toEqual([]);
    expect(await service.store.read((tx) => tx.erasures.isCleaning())).toBe(false);
  });
});

describe("when the service keeps messages in another folder, and does not run", () => {
  it.each([
    ["no folder", 0],
    ["the folder of an earlier start", 1],
  ])("and %s is next to the data file, then its next start removes them", async (_, beside) => {
    await addAda(fixture);
    const { folder, dataFile } = fixture;
    const [elsewhere, outbox] = [path.join(folder, "elsewhere"), path.join(folder, "outbox")];
    await fixture.stop();
    await rename(outbox, elsewhere);
    if (beside > 0) await mkdir(outbox);
    for (const name of (await readdir(elsewhere)).slice(0, beside))
      await rename(path.join(elsewhere, name), path.join(outbox, name));
    const options = { dataFile, clock: fixture.service().clock, random: systemRandom };
    expect(await administer(options, (admin) => admin(COMMAND))).toMatchObject({ people: 1, messages: null });
    expect(await findTraces(outbox).catch(() => [])).toEqual([]);
    expect(await readdir(elsewhere)).toHaveLength(4 - beside);
    const place = { log: silentLog, publicUrl: "https://survey.test", rateLimit: null, outbox: elsewhere };
    const service = await openTestService({ ...options, ...place });
    expect(await service.sweepMessages()).toBe(4 - beside);
    expect(await readdir(elsewhere)).toEqual([]);
    expect(await service.store.read((tx) => tx.queue.listErased(1))).toEqual([]);
    await service.close();
  });
});

it("when messages are next to the data file, then a command removes them, and nothing is left to the server", async () => {
  await sendToAda();
  await fixture.service().finishDue();
  const { folder, dataFile } = fixture;
  expect(await readdir(path.join(folder, "outbox"))).toHaveLength(1);
  await fixture.stop();
  const options = { dataFile, clock: fixture.service().clock, random: systemRandom };
  expect(await administer(options, (admin) => admin(COMMAND))).toMatchObject({ people: 1, messages: 1 });
  expect(await readdir(path.join(folder, "outbox"))).toEqual([]);
  const service = await fixture.reopen();
  expect(await service.store.read((tx) => tx.queue.listErased(1))).toEqual([]);
});

it("when every channel has a server of its own by now, then the messages of an earlier start go, too", async () => {
  await addAda(fixture);
  const { folder, dataFile } = fixture;
  await fixture.stop();
  const service = await openTestService({
    dataFile,
    clock: fixture.service().clock,
    random: systemRandom,
    log: silentLog,
    publicUrl: "https://survey.test",
    rateLimit: null,
    mail: {
      server: parseSmtpUrl("smtp://127.0.0.1:1"),
      certificates: null,
      rate: { count: 1, perSeconds: 1 },
      connections: 1,
      dkim: null,
      onlyTo: null,
    },
    sms: {
      gateway: { url: "http://127.0.0.1:1", format: "json", header: null, from: null, fields: {} },
      mode: "link",
      limits: { daily: 1, maxSegments: 1, countries: null, quiet: null },
      onlyTo: null,
      linkUrl: null,
    },
  });
  expect(await service.admin(COMMAND)).toMatchObject({ people: 1, messages: 4 });
  expect(await readdir(path.join(folder, "outbox"))).toEqual([]);
  await service.close();
});

describe("when a backup is put in the place of the data file", () => {
  it("then whoever was erased after it is gone once the file is opened, and stays gone", async () => {
    const { unsubscribeToken } = await addAda(fixture);
    await addOther(fixture, "bob@example.com", { score: 2 });
    await fixture.service().sweepMessages();
    const backup = path.join(fixture.folder, "backup.db");
    await fixture.service().store.backup(backup);
    fixture.time.now += DAY;
    await erase();
    await fixture.stop();
    for (const name of ["survey.db", "survey.db-wal"]) await rm(path.join(fixture.folder, name), { force: true });
    await rename(backup, fixture.dataFile);
    const service = await fixture.reopen();
    await finishErasure(service.store, service.sweepMessages);
    expect(await findTraces(fixture.folder)).toEqual([]);
    expect(await service.store.read((tx) => tx.projects.counts(fixture.project.id))).toEqual({
      people: 1,
      responses: 1,
    });
    expect((await post(`/u/${unsubscribeToken}`)).status).toBe(200);
    expect(await service.store.check()).toEqual([]);
  });
});

const NO_OPTIONS = { forgetUnsubscribe: false, mentions: [] };
const LINKS = { permalink: (token: string): string => `/r/${token}` };

async function halfOfMessage(): Promise<string> {
  const outbox = path.join(fixture.folder, "outbox");
  const [message = ""] = await readdir(outbox);
  return path.join(outbox, `${message}.0123456789ab-rest.surveyctl-tmp`);
}
