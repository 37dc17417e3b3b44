import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { silentLog } from "../../../../src/runtime/log.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { NO_SENDER } from "../../../../src/service/delivery/message/sender.ts";
import { parseSmtpUrl } from "../../../../src/service/delivery/smtp/smtp-url.ts";
import { changeReminder } from "../../../../src/service/domain/delivery/reminders.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { configureAutopilot } from "../../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { openTestService, type TestService } from "../../../helpers/test-service.ts";
import { hasPostfix, type Postfix, startPostfix } from "../../../helpers/postfix.ts";
import { links, responsesQuery, sendInput } from "../../domain/fixture.ts";
import { listResponses } from "../../domain/lists.ts";
import { readMail } from "../read-mail.ts";

const DAY_MS = 86_400_000;
const URL_START = "https://survey.test";

let folder: string;
let postfix: Postfix;
let service: TestService;
const time = { aheadMs: 0 };

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-postfix-test-"));
  time.aheadMs = 0;
  if (hasPostfix) postfix = await startPostfix("inbox.test");
});
afterEach(async () => {
  if (hasPostfix) await postfix.stop();
  await rm(folder, { recursive: true, force: true });
});

const open = (): Promise<TestService> =>
  openTestService({
    dataFile: path.join(folder, "survey.db"),
    clock: { ...systemClock, now: () => systemClock.now() + time.aheadMs },
    random: systemRandom,
    log: silentLog,
    publicUrl: URL_START,
    rateLimit: null,
    sender: { ...NO_SENDER, from: "us@survey.test" },
    mail: {
      server: parseSmtpUrl(`smtp://127.0.0.1:${postfix.port}`),
      certificates: null,
      rate: { count: 600, perSeconds: 60 },
      connections: 1,
      dkim: null,
      onlyTo: null,
    },
  });

async function mailsOnceDue(count: number) {
  await service.finishDue();
  await expect.poll(postfix.mails, { timeout: 20_000 }).toHaveLength(count);
  await expect.poll(postfix.queued, { timeout: 20_000 }).toBe(0);
  // Postfix stores mails with bare LF line ends.
  return (await postfix.mails()).map((text) => readMail(text.replaceAll(/\r?\n/g, "\r\n")));
}

const linkIn = (text = ""): string => /https:\/\/survey\.test(\/s\/[\w-]+)/.exec(text)?.[1] ?? "";

test.runIf(hasPostfix)(
  "when a reminder went through Postfix, then its link is the survey's, and an answer there ends it (runs where Postfix is installed, as root)",
  async () => {
    service = await open();
    const project = await service.store.write(
      async (tx) => {
        const acme = await addProject(tx, "Acme");
        await configureAutopilot(tx, acme, "email", { days: "any", hours: "any" });
        await changeReminder(tx, acme, { after: 5 * 86_400 });
        await sendPerson(tx, acme, sendInput({ email: "ada@inbox.test", name: "Ada" }));
        return acme;
      },
      { project: "all" },
    );
    const [survey] = await mailsOnceDue(1);
    time.aheadMs += 5 * DAY_MS - 3_600_000;
    await mailsOnceDue(1);
    time.aheadMs += 3_600_000;
    const both = await mailsOnceDue(2);
    const reminder = both.find(({ headers }) => headers["in-reply-to"] !== undefined);
    expect(reminder?.headers).toMatchObject({
      "in-reply-to": survey?.headers["message-id"],
      subject: `Reminder: ${survey?.headers["subject"]}`,
      to: survey?.headers["to"],
    });
    const link = linkIn(reminder?.parts["text/plain"]);
    expect([link, link]).toEqual([expect.stringMatching(/^\/s\/[\w-]{16,}$/), linkIn(survey?.parts["text/plain"])]);
    const answered = await service.handle({
      method: "POST",
      url: `${URL_START}${link}`,
      headers: { host: "survey.test", "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ score: "9", comment: "Reminded" }).toString(),
    });
    expect(answered.status).toBe(303);
    const responses = await service.store.read((tx) => listResponses(tx, project, responsesQuery(), links));
    expect(responses).toMatchObject([{ score: 9, comment: "Reminded" }]);
    time.aheadMs += 30 * DAY_MS;
    await mailsOnceDue(2);
    await service.close();
  },
  60_000,
);
