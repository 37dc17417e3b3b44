import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { silentLog } from "../../../src/runtime/log.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { LOCALES } from "../../../src/contract/locales.ts";
import { openTestService, type TestService } from "../../helpers/test-service.ts";
import { changeReminder } from "../../../src/service/domain/delivery/reminders.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import { addProject } from "../../../src/service/domain/projects/projects.ts";
import { configureAutopilot } from "../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { surveyTexts } from "../../../src/service/domain/texts/survey-texts.ts";
import { sendInput } from "../domain/fixture.ts";
import { type Mail, readMail } from "./read-mail.ts";

const START = 1_800_000_000;
const HOUR = 3600;

let folder: string;
let service: TestService;
const time = { now: START };

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-reminder-"));
  time.now = START;
  service = await openTestService({
    dataFile: path.join(folder, "survey.db"),
    clock: { now: () => time.now * 1000, monotonic: () => time.now * 1000, sleep: () => Promise.resolve() },
    random: systemRandom,
    log: silentLog,
    publicUrl: "https://survey.test",
    rateLimit: null,
  });
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

async function outbox(): Promise<readonly string[]> {
  const names = (await readdir(path.join(folder, "outbox"))).toSorted();
  return Promise.all(names.map((name) => readFile(path.join(folder, "outbox", name), "utf8")));
}

const plain = (mail: Mail | undefined) => mail?.parts["text/plain"]?.replaceAll("\r\n", "\n");

test("when nobody answers, then the reminder is a mail of its own in the survey's thread, and a text likewise", async () => {
  await service.store.write(
    async (tx) => {
      const project = await addProject(tx, "Acme");
      for (const platform of ["email", "sms"] as const)
        await configureAutopilot(tx, project, platform, { days: "any", hours: "any" });
      await changeReminder(tx, project, { after: HOUR });
      const properties = { locale: "de", service_intro_message: "Guten Tag!" };
      await sendPerson(tx, project, sendInput({ email: "ada@x.co", properties }));
      await sendPerson(tx, project, sendInput({ phoneNumber: "+14155550101", channel: "sms" }));
    },
    { project: "all" },
  );
  await service.finishDue();
  expect(await outbox()).toHaveLength(2);
  time.now += HOUR;
  await service.finishDue();
  const files = await outbox();
  const mails = files.filter((text) => text.includes("From:")).map(readMail);
  const texts = files.filter((text) => text.startsWith("{")).map((text) => JSON.parse(text) as { text: string });
  const [survey, reminder] = mails.toSorted((one, other) =>
    (one.headers["in-reply-to"] ?? "").localeCompare(other.headers["in-reply-to"] ?? ""),
  );
  expect(reminder?.headers["in-reply-to"]).toBe(survey?.headers["message-id"]);
  expect(reminder?.headers["references"]).toBe(survey?.headers["message-id"]);
  expect(reminder?.headers["message-id"]).not.toBe(survey?.headers["message-id"]);
  expect(reminder?.headers["subject"]).toBe(`Erinnerung: ${survey?.headers["subject"]}`);
  expect(plain(reminder)).toBe(`${surveyTexts("de").reminder}\n\n${plain(survey)}`);
  expect(reminder?.parts["text/html"]).toContain(surveyTexts("de").reminder);
  expect(
    texts
      .map(({ text }) => text)
      .toSorted()
      .map((text) => text.split("\n").length),
  ).toEqual([2, 3]);
  time.now += 100 * 24 * HOUR;
  await service.finishDue();
  expect(await outbox()).toHaveLength(4);
});

test("when a language is asked for, then its subject of a reminder holds that of the survey, and fits a list of mail", () => {
  for (const locale of LOCALES) {
    const { reminderSubject, reminder, subject } = surveyTexts(locale);
    expect(reminderSubject.split("{subject}")).toHaveLength(2);
    expect(reminderSubject.replace("{subject}", subject).length).toBeLessThanOrEqual(60);
    expect(reminder).not.toBe("");
  }
});
