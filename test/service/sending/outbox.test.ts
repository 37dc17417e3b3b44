import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { silentLog } from "../../../src/runtime/log.ts";
import { systemRandom } from "../../../src/runtime/random.ts";
import { NO_SENDER } from "../../../src/service/delivery/message/sender.ts";
import { Outbox } from "../../../src/service/sending/outbox.ts";
import { openTestService } from "../../helpers/test-service.ts";
import type { DeliveryProgress, DeliveryResult } from "../../../src/service/domain/delivery/sender.ts";
import type { DueSurvey } from "../../../src/service/domain/ports.ts";
import { dueSurvey } from "../delivery/due.ts";
import { readMail } from "../delivery/read-mail.ts";

const NOW = 1_750_000_000;
const CONTEXT = {
  appUrl: "https://survey.example.com",
  sender: { ...NO_SENDER, from: "surveys@example.com" },
};
const state = { folder: "" };
const outbox = (): string => path.join(state.folder, "outbox");
beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-outbox-"));
});
afterEach(() => rm(state.folder, { recursive: true, force: true }));

const unexpected = (error: unknown): void => {
  throw error;
};
const open = (onError: (error: unknown) => void = unexpected, now = NOW): Outbox =>
  new Outbox({
    channels: ["email", "sms"],
    folder: outbox(),
    dataFile: "/data/survey.db",
    clock: { ...systemClock, now: () => now * 1000, monotonic: () => 0 },
    random: systemRandom,
    readContext: async () => CONTEXT,
    makeDigest: () => Promise.reject(new Error("no digest is due")),
    onError,
  });
const PROGRESS: DeliveryProgress = {
  mayStillSend: () => Promise.reject(new Error("not asked")),
  transmitting: () => Promise.reject(new Error("not marked")),
  signal: new AbortController().signal,
};
const deliver = (box: Outbox, ...surveys: readonly DueSurvey[]): Promise<DeliveryResult[]> =>
  Promise.all(surveys.map((due) => box.deliver(due, PROGRESS)));
const FACTS = { stage: "outbox", code: null, enhancedCode: null, text: null, host: null, serverId: null, ms: 0 };
const sent = (file: unknown): unknown => ({ kind: "sent", attempt: { ...FACTS, serverId: file } });
const retry = (delaySeconds: number): unknown => ({
  kind: "retry",
  delaySeconds,
  attempt: { ...FACTS, text: expect.any(String) },
});
const hoursAgo = (count: number): Date => new Date(Date.now() - count * 3_600_000);
const names = async (): Promise<string[]> => (await readdir(outbox())).toSorted();
const onlyFile = async (): Promise<string> => path.join(outbox(), (await names())[0] ?? "");

it("when surveys are delivered, then each is one file that only its owner reads", async () => {
  const surveys = Array.from({ length: 20 }, (_, index) =>
    dueSurvey({ requestId: index + 1, channel: index % 2 === 0 ? "email" : "sms" }),
  );
  const results = await deliver(open(), ...surveys);
  const expected = surveys.map(
    ({ requestId }, index) => `1-${requestId}-343a05c83a2933b79232.${index % 2 === 0 ? "eml" : "json"}`,
  );
  expect(results).toEqual(expected.map(sent));
  expect(await names()).toEqual(expected.toSorted());
  expect((await stat(await onlyFile())).mode & 0o777).toBe(0o600);
  expect((await stat(outbox())).mode & 0o777).toBe(0o700);
});

it("when a survey was written before a crash, then its file stays as it is", async () => {
  await deliver(open(), dueSurvey());
  const before = await readFile(await onlyFile(), "utf8");
  const again = await deliver(open(unexpected, NOW + 60), dueSurvey({ attempts: 1 }));
  expect(again).toEqual([sent("1-7-343a05c83a2933b79232.eml")]);
  expect(await readFile(await onlyFile(), "utf8")).toBe(before);
});

it("when another data file has a survey of the same project and number, then both are written", async () => {
  await deliver(open(), dueSurvey({ token: "ofOneFile" }));
  await deliver(open(), dueSurvey({ token: "ofAnother" }));
  expect(await names()).toHaveLength(2);
});

it.each(["", "From: somebody else"])(
  "when a file of that name holds %j, then it is not taken for the survey",
  async (text) => {
    await deliver(open(), dueSurvey());
    const file = await onlyFile();
    const whole = await readFile(file, "utf8");
    await writeFile(file, text);
    await deliver(open(), dueSurvey());
    expect(await readFile(file, "utf8")).toBe(whole);
  },
);

it("when the folder is a link or others may write into it, then nothing is written", async () => {
  const elsewhere = path.join(state.folder, "elsewhere");
  await mkdir(elsewhere);
  await symlink(elsewhere, outbox());
  await expect(open().check()).rejects.toThrow("is a symbolic link");
  const errors: unknown[] = [];
  expect(
    await deliver(
      open((error) => errors.push(error)),
      dueSurvey(),
    ),
  ).toEqual([retry(15)]);
  await rm(outbox());
  await mkdir(outbox());
  await chmod(outbox(), 0o777);
  await deliver(
    open((error) => errors.push(error)),
    dueSurvey(),
  );
  expect(errors.map(String)).toEqual([
    expect.stringContaining("is a symbolic link"),
    expect.stringContaining("can be written by other users"),
  ]);
  expect([await readdir(elsewhere), await names()]).toEqual([[], []]);
});

it("when somebody has put a link where a temporary file would be, then what it leads to is not written", async () => {
  const victim = path.join(state.folder, "victim");
  await writeFile(victim, "precious");
  await mkdir(outbox(), { mode: 0o700 });
  for (const name of ["1-7.eml.surveyctl-tmp", "1-7-343a05c83a2933b79232.eml.surveyctl-tmp"])
    await symlink(victim, path.join(outbox(), name));
  await deliver(open(), dueSurvey());
  expect(await readFile(victim, "utf8")).toBe("precious");
});

it("when a crash left half a message, then the next process of this data file removes it, and leaves others alone", async () => {
  await mkdir(outbox(), { mode: 0o700 });
  const halves = [
    "1-3-343a05c83a2933b79232.eml.62191a9b6f1f-one.surveyctl-tmp",
    "1-3-343a05c83a2933b79232.eml.000000000000-one.surveyctl-tmp",
  ];
  for (const name of halves) await writeFile(path.join(outbox(), name), "From: ha");
  await deliver(open(), dueSurvey());
  expect(await names()).toEqual([halves[1], expect.stringMatching(/^1-7-/)]);
});

it("when a person is deleted, then the messages go, and those of others stay", async () => {
  const [first, second] = [dueSurvey(), dueSurvey({ requestId: 8, token: "another" })];
  await deliver(open(), first, second);
  await open().erase([first]);
  await open().erase([first]);
  expect(await names()).toEqual([expect.stringMatching(/^1-8-/)]);
});

it("when messages grow old, then they go, and so does what crashes left of them, but no other file", async () => {
  await deliver(open(), dueSurvey(), dueSurvey({ requestId: 8, token: "another" }));
  const [old = ""] = await names();
  const half = path.join(outbox(), `${old}.000000000000-random.surveyctl-tmp`);
  await writeFile(half, "half");
  await writeFile(path.join(outbox(), "notes.eml"), "mine");
  for (const file of [path.join(outbox(), old), half, path.join(outbox(), "notes.eml")])
    await utimes(file, hoursAgo(49), hoursAgo(49));
  const prune = (keepSeconds: number | null) => open(unexpected, Date.now() / 1000).prune(keepSeconds);
  await prune(null);
  expect(await names()).toHaveLength(3);
  await prune(48 * 3600);
  expect(await names()).toEqual([expect.stringMatching(/^1-8-/), "notes.eml"]);
});

it("when nothing can be written, then each is tried again later, at first within a minute", async () => {
  await writeFile(outbox(), "a file where the folder should be");
  const errors: unknown[] = [];
  const delay = async (attempts: number): Promise<unknown> =>
    (
      await deliver(
        open((error) => errors.push(error)),
        dueSurvey({ attempts }),
      )
    )[0];
  expect(await delay(0)).toEqual(retry(15));
  expect(await delay(3)).toEqual(retry(120));
  expect(await delay(30)).toEqual(retry(3600));
  expect(errors.length).toBeGreaterThan(0);
});

it("when projects say who sends, then each one's mail shows it, and the server's word fills the gaps", async () => {
  const service = await openTestService({
    dataFile: path.join(state.folder, "survey.db"),
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    publicUrl: "https://survey.example.com",
    rateLimit: null,
    sender: { ...NO_SENDER, from: "nps@server.example", footer: "Server Ltd" },
  });
  for (const [name, change] of [
    ["one", { from: "ask@one.example", sender_name: "One" }],
    ["two", { reply_to: "help@two.example" }],
  ] as const) {
    const { key } = await service.admin({ kind: "project.add", name });
    await service.admin({ kind: "settings", project: name, ...change });
    await service.handle({
      method: "POST",
      url: "https://survey.example.com/v1/people.json",
      headers: { authorization: `Basic ${btoa(`${key}:`)}`, "content-type": "application/json" },
      body: '{"email":"ada@example.com"}',
    });
  }
  service.start();
  await service.finishDue();
  const files = (await names()).map((name) => readFile(path.join(outbox(), name), "utf8"));
  const mails = (await Promise.all(files)).map((raw) => readMail(raw));
  expect(mails.map(({ headers, parts }) => [headers.from, headers["reply-to"], parts["text/plain"]])).toEqual([
    ["One <ask@one.example>", undefined, expect.stringContaining("customer of One.\n\nServer Ltd\n")],
    ["two <nps@server.example>", "help@two.example", expect.stringContaining("customer of two.\n\nServer Ltd\n")],
  ]);
  await service.close();
});
