/** A service whose data file has one person in every table, and a search through all bytes on disk. */
import { storeResponse } from "../../../src/service/domain/answers/response-changes.ts";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { silentLog } from "../../../src/runtime/log.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import type { Properties } from "../../../src/contract/resources.ts";
import { finishDelivery } from "../../../src/service/domain/delivery/deliveries.ts";
import { getMetrics } from "../../../src/service/domain/answers/metrics.ts";
import { updateResponse } from "../../../src/service/domain/answers/responses.ts";
import { addDigest } from "../../../src/service/domain/delivery/digests.ts";
import type { DueSurvey } from "../../../src/service/domain/ports.ts";
import { answerSurvey } from "../../../src/service/domain/answers/answers.ts";
import { addTrend } from "../../../src/service/domain/answers/trends.ts";
import type { Project } from "../../../src/service/domain/inputs.ts";
import { recordReport } from "../../../src/service/domain/delivery/bounces.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import { addKey, addProject } from "../../../src/service/domain/projects/projects.ts";
import { addMember } from "../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { configureAutopilot } from "../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { openTestService, type TestService } from "../../helpers/test-service.ts";
import { DAY, memberInput, sendInput, START } from "../domain/fixture.ts";
import { claimDue } from "../domain/claim-due.ts";

export const KEY = "key-of-the-privacy-tests";
export const ADA = {
  email: "Ada.Lovelace@example.com",
  phoneNumber: "+4915550123456",
  name: "Ada Augusta King",
  comment: "The analytical engine weaves algebraic patterns",
} as const;

export const TRACES = [
  ADA.email,
  ADA.email.toLowerCase(),
  "Lovelace",
  "lovelace",
  "15550123456",
  ADA.name,
  "Augusta",
  ADA.comment,
  "algebraic",
  "countess-of-lovelace",
];

export interface PrivacyFixture {
  readonly folder: string;
  readonly dataFile: string;
  readonly service: () => TestService;
  readonly project: Project;
  readonly time: { now: number };
  readonly stop: () => Promise<void>;
  readonly openAnother: (dataFile: string) => Promise<TestService>;
  readonly reopen: () => Promise<TestService>;
  readonly close: () => Promise<void>;
}

export async function openPrivacy(): Promise<PrivacyFixture> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-privacy-"));
  const dataFile = path.join(folder, "survey.db");
  const time = { now: START };
  const clock = { now: () => time.now * 1000, monotonic: () => time.now * 1000, sleep: () => Promise.resolve() };
  const open = (file = dataFile): Promise<TestService> =>
    openTestService({
      dataFile: file,
      clock,
      random: systemRandom,
      log: silentLog,
      publicUrl: "https://survey.test",
      rateLimit: null,
    });
  const state = { service: await open(), isOpen: true };
  const stop = async (): Promise<void> => {
    if (state.isOpen) await state.service.close();
    state.isOpen = false;
  };
  const project = await state.service.store.write(
    async (tx) => {
      const made = await addProject(tx, "default");
      await configureAutopilot(tx, made, "email", { frequency: 6 * DAY, days: "any", hours: "any" });
      await addKey(tx, made, KEY);
      return made;
    },
    { project: "all" },
  );
  return {
    folder,
    dataFile,
    project,
    time,
    service: () => state.service,
    openAnother: open,
    stop,
    reopen: async () => {
      await stop();
      Object.assign(state, { service: await open(), isOpen: true });
      return state.service;
    },
    close: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const LINKS = { permalink: (token: string): string => `https://survey.test/r/${token}` };

/**
 * Puts Ada into every table and into the outbox, where digests to her and to someone else quote her. Returns her first
 * survey.
 */
export async function addAda({ service, project, time }: PrivacyFixture): Promise<DueSurvey> {
  const { store, admin } = service();
  const { email, phoneNumber, name, comment } = ADA;
  const properties = { title: "countess-of-lovelace", city: "London" };
  const webhook = { kind: "webhook.add", project: "default", url: "https://hook.test/", format: "json" } as const;
  await admin(webhook);
  await store.write((tx) => addTrend(tx, project, "London", { city: "London" }), { project: "all" });
  await store.write((tx) => sendPerson(tx, project, sendInput({ email, phoneNumber, name, properties })), {
    project: "all",
  });
  const claim = { claimer: "one", channel: "email", leaseSeconds: 60, limit: 1 } as const;
  const [due] = await store.write((tx) => claimDue(tx, claim), { project: "all" });
  if (due === undefined) throw new Error("nothing was due");
  await store.write(
    async (tx) => {
      await finishDelivery(tx, due, { kind: "sent" });
      const { responseId } = await answerSurvey(tx, due.token, { score: 9, comment, by: "button" }, DAY);
      const change = { note: `${name} called`, tags: [name] };
      await updateResponse(tx, project, String(responseId), change, new Set(), LINKS);
      const recipient = {
        addresses: [email],
        action: "failed",
        verdict: "soft",
        code: 450,
        enhancedCode: "4.2.2",
      } as const;
      const report = { source: "mail", id: "1", kind: "delivery-status", token: null, needsProof: false } as const;
      await recordReport(tx, {
        ...report,
        messageId: null,
        recipients: [{ ...recipient, text: `<${email}>: mailbox of ${name} is full` }],
      });
      await addMember(tx, project, memberInput({ personEmail: email, properties }));
    },
    { project: "all" },
  );
  const weekly = { weekday: 1, minute: 480, zone: null };
  for (const reader of [email, "boss@example.com"])
    await store.write((tx) => addDigest(tx, project, reader, weekly), { project: "all" });
  const half = { reference: "1", number: 1, total: 2 };
  await store.write((tx) => tx.texts.joinPart(phoneNumber, half, comment), { project: "all" });
  time.now += 7 * DAY;
  await service().finishDue();
  time.now += 358 * DAY;
  await store.write((tx) => sendPerson(tx, project, sendInput({ email, name, properties })), { project: "all" });
  await service().finishDue();
  return due;
}

export async function addOther(
  { service, project }: PrivacyFixture,
  email: string,
  { score, comment = null, properties = {} }: { score: number; comment?: string | null; properties?: Properties },
): Promise<number> {
  return service().store.write(
    async (tx) => {
      const { person } = await sendPerson(tx, project, sendInput({ email, send: false }));
      const row = { personId: Number(person.id), score, comment, personProperties: properties, token: tx.token() };
      return storeResponse(tx, project.id, { ...row, createdAt: tx.now, updatedAt: tx.now, requestId: null });
    },
    { project: "all" },
  );
}

export function metricsOf({ service, project }: PrivacyFixture, trend: string | null = null) {
  return service().store.read((tx) => getMetrics(tx, project, { since: null, until: null, trend, groups: new Set() }));
}

export async function findTraces(folder: string, texts: readonly string[] = TRACES): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(path.join(entry.parentPath, entry.name));
    for (const text of texts) if (bytes.includes(text)) found.push(`${text} in ${entry.name}`);
  }
  return found;
}
