import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createOutbox } from "../../../src/service/delivery/outbox.ts";
import { dueSurvey } from "./due.ts";

const CONTEXT = { appUrl: "https://survey.example.com", now: 1_750_000_000 };
const state = { folder: "" };
const outbox = (): string => path.join(state.folder, "outbox");
beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-outbox-"));
});
afterEach(() => rm(state.folder, { recursive: true, force: true }));

const unexpected = (error: unknown): void => {
  throw error;
};

it("when surveys are delivered, then each is one file that only its owner reads", async () => {
  const surveys = Array.from({ length: 20 }, (_, index) =>
    dueSurvey({ requestId: index + 1, channel: index % 2 === 0 ? "email" : "sms" }),
  );
  const outcomes = await createOutbox(outbox(), unexpected).deliver(surveys, CONTEXT);
  expect(outcomes).toEqual(surveys.map(() => ({ kind: "sent" })));
  const names = surveys.map(({ requestId }, index) => `1-${requestId}.${index % 2 === 0 ? "eml" : "json"}`);
  expect((await readdir(outbox())).toSorted()).toEqual(names.toSorted());
  expect((await stat(path.join(outbox(), "1-1.eml"))).mode & 0o777).toBe(0o600);
  expect((await stat(outbox())).mode & 0o777).toBe(0o700);
});

it("when a survey was written before a crash, then its file stays as it is", async () => {
  await createOutbox(outbox(), unexpected).deliver([dueSurvey()], CONTEXT);
  const before = await readFile(path.join(outbox(), "1-7.eml"), "utf8");
  const again = await createOutbox(outbox(), unexpected).deliver([dueSurvey({ attempts: 1 })], {
    ...CONTEXT,
    now: CONTEXT.now + 60,
  });
  expect(again).toEqual([{ kind: "sent" }]);
  expect(await readFile(path.join(outbox(), "1-7.eml"), "utf8")).toBe(before);
});

it("when a crash left half a file, then it never bears the final name and is overwritten", async () => {
  await mkdir(outbox());
  await writeFile(path.join(outbox(), ".1-7.eml.tmp"), "From: ha".repeat(10_000));
  await createOutbox(outbox(), unexpected).deliver([dueSurvey()], CONTEXT);
  expect(await readdir(outbox())).toEqual(["1-7.eml"]);
  expect(await readFile(path.join(outbox(), "1-7.eml"), "utf8")).toMatch(/--\r\n$/);
});

it("when nothing can be written, then each is tried again later, at first within a minute", async () => {
  await writeFile(outbox(), "a file where the folder should be");
  const errors: unknown[] = [];
  const delay = async (attempts: number): Promise<unknown> =>
    (await createOutbox(outbox(), (error) => errors.push(error)).deliver([dueSurvey({ attempts })], CONTEXT))[0];
  expect(await delay(0)).toEqual({ kind: "retry", delaySeconds: 15 });
  expect(await delay(3)).toEqual({ kind: "retry", delaySeconds: 120 });
  expect(await delay(30)).toEqual({ kind: "retry", delaySeconds: 3600 });
  expect(errors.length).toBeGreaterThan(0);
});
