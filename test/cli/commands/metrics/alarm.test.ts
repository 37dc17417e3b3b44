import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AlarmOptions, runAlarm } from "../../../../src/cli/commands/metrics/alarm.ts";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { fakeClient } from "../../../helpers/fake-client.ts";
import { fakeDeps, NOW } from "../../../helpers/fake-deps.ts";

let folder = "";
let file = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-alarm-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(async () => {
  for (const name of await readdir(folder)) await rm(path.join(folder, name));
  file = path.join(folder, "nps.alarm");
});

type Counts = readonly [detractors: number, passives: number, promoters: number];

const counted = ([detractor_count, passive_count, promoter_count]: Counts): JsonObject => ({
  nps: 0,
  detractor_count,
  passive_count,
  promoter_count,
  response_count: detractor_count + passive_count + promoter_count,
});

/** The first of these answers, oldest first, as their list. */
const FIRST = [10, 10, 10, 10, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 8, 8, 8, 7, 3, 0, 0, 0].map((score, id) => ({
  id,
  score,
}));

async function run(counts: Counts, options: Partial<AlarmOptions> = {}, now = NOW) {
  const { client, calls } = fakeClient({
    metrics: () => counted(counts),
    pages: [FIRST.slice(0, 15), FIRST.slice(15)],
  });
  const { deps, out, err } = fakeDeps({ client, now, options: { output: "json" } });
  const all = { file, since: null, sinceText: "", trend: null, target: 40, confidence: 0.95, ...options };
  const ended = await runAlarm(deps, all).catch((error: unknown) => error);
  return { ended, out: out() === "" ? null : (JSON.parse(out()) as JsonObject), err: err(), calls };
}

const state = async (): Promise<unknown> => JSON.parse(await readFile(file, "utf8"));
const STATE = {
  surveyctl_alarm_state: 1,
  identity: { base_url: "https://survey.example.com", key: "", trend: "", since: "" },
  since: NOW,
  baseline: null,
};

describe("metrics --alarm", () => {
  it("begins with its first run, in a file for its owner alone", async () => {
    const { ended, out, err, calls } = await run([0, 0, 0]);
    expect([ended, out]).toEqual([0, { since: NOW, n: 0, nps: null, target: 40, limit: null, alarm: false }]);
    expect(err).toBe("note: 0 of the 20 answers that the alarm needs\n");
    expect(calls).toEqual([{ call: "getMetrics", parameters: { since: NOW, trend: null } }]);
    expect([await state(), (await stat(file)).mode & 0o777, await readdir(folder)]).toEqual([
      STATE,
      0o600,
      ["nps.alarm"],
    ]);
  });

  it("counts from there in later runs, and fires in one sentence", async () => {
    await run([0, 0, 0]);
    const { ended, out, calls } = await run([60, 60, 80], {}, NOW + 86_400);
    expect(calls).toEqual([{ call: "getMetrics", parameters: { since: NOW, trend: null } }]);
    expect(out).toEqual({ since: NOW, n: 200, nps: 10, target: 40, limit: expect.closeTo(22.207, 3), alarm: true });
    expect(ended).toMatchObject({
      name: "AlarmError",
      message: "the score is below the target: NPS 10 since 2026-02-01 12:00:00, against 40 (n 200, 95 % at all times)",
    });
  });

  it("says nothing about a score that may still be at the target, or is above it", async () => {
    expect((await run([40, 60, 100])).ended).toBe(0);
    expect((await run([0, 0, 500])).ended).toBe(0);
  });

  it("counts from --since where it is given, and not from another one later", async () => {
    const since = { since: NOW - 86_400, sinceText: "1d" };
    expect((await run([0, 0, 0], since)).calls).toEqual([
      { call: "getMetrics", parameters: { since: NOW - 86_400, trend: null } },
    ]);
    // "1d" of the next day is the same word and not a new beginning.
    const next = await run([0, 0, 0], { ...since, since: NOW }, NOW + 86_400);
    expect(next.calls).toMatchObject([{ parameters: { since: NOW - 86_400 } }]);
    expect((await run([0, 0, 0], { since: NOW, sinceText: "2d" })).ended).toMatchObject({
      name: "UsageError",
      message: `--alarm: ${file} belongs to another --since: 1d then, 2d now`,
      hint: `to start over, use another file or delete ${file}`,
    });
  });

  it("without a target compares with the first twenty answers, which it reads once", async () => {
    const early = await run([1, 4, 14], { target: null });
    expect([early.ended, early.err, early.out]).toMatchObject([
      0,
      "note: 19 of the first 20 answers, which later ones are compared with\n",
      { n: 19, nps: null, target: null },
    ]);
    const first = await run([4, 4, 14], { target: null });
    expect(first.calls).toEqual([
      { call: "getMetrics", parameters: { since: NOW, trend: null } },
      { call: "listResponses", parameters: { since: NOW, trend: null, per_page: 20 } },
      { call: "listResponses again", parameters: { since: NOW, trend: null, per_page: 20 } },
    ]);
    expect([first.ended, first.err, await state()]).toEqual([
      0,
      "note: NPS 60 of the first 20 answers is the baseline: a fall of about 41 points shows after 100 more answers, " +
        "one of 34 after 1,000; --target shows smaller ones\n",
      { ...STATE, baseline: { detractors: 2, passives: 4, promoters: 14 } },
    ]);
    const later = await run([162, 44, 54], { target: null }, NOW + 1);
    expect(later.calls.length).toBe(1);
    expect(later.out).toMatchObject({ n: 240, nps: -50, target: 60, alarm: true });
    expect([later.err, later.ended]).toMatchObject(["", { name: "AlarmError" }]);
    expect((later.ended as Error).message).toMatch(/^the score has fallen: NPS -50 since /);
  });

  it("leaves a file alone that did not change", async () => {
    await run([0, 0, 0]);
    await chmod(file, 0o400);
    expect((await run([40, 60, 100], {}, NOW + 1)).ended).toBe(0);
  });
});

describe("a state that is not this alarm's", () => {
  it.each<[string, string]>([
    ["no JSON", "since,n\n"],
    ["the state of an export", JSON.stringify({ surveyctl_export_state: 2 })],
    ["a later format", JSON.stringify({ ...STATE, surveyctl_alarm_state: 2 })],
    ["an empty file", ""],
  ])("is refused: %s", async (_, text) => {
    await writeFile(file, text);
    const { ended, calls } = await run([0, 0, 0]);
    expect([ended, calls]).toMatchObject([{ message: `--alarm: ${file} is not the state of an alarm` }, []]);
    expect(await readFile(file, "utf8")).toBe(text);
  });

  it.each<[string, object]>([
    ["no time", { since: null }],
    ["no identity", { identity: 1 }],
    ["a baseline of other than twenty", { baseline: { detractors: 1, passives: 1, promoters: 1 } }],
    ["a negative count", { baseline: { detractors: -1, passives: 1, promoters: 20 } }],
  ])("is refused: %s", async (_, damage) => {
    await writeFile(file, JSON.stringify({ ...STATE, ...damage }));
    expect((await run([0, 0, 0])).ended).toMatchObject({ message: `--alarm: ${file} is damaged` });
  });

  it("is refused: of another service, and of another trend", async () => {
    await writeFile(file, JSON.stringify({ ...STATE, identity: { ...STATE.identity, base_url: "https://x.example" } }));
    expect((await run([0, 0, 0])).ended).toMatchObject({
      message: `--alarm: ${file} belongs to another service: https://x.example then, https://survey.example.com now`,
    });
    await writeFile(file, JSON.stringify(STATE));
    expect((await run([0, 0, 0], { trend: "7" })).ended).toMatchObject({
      message: `--alarm: ${file} belongs to another --trend: none then, 7 now`,
    });
  });

  it("is refused: a file that cannot be written, before anything is asked", async () => {
    const { ended, calls } = await run([0, 0, 0], { file: path.join(folder, "none", "nps.alarm") });
    expect([ended, calls]).toMatchObject([{ message: expect.stringContaining("none does not exist") }, []]);
  });

  it("is refused: a folder", async () => {
    expect((await run([0, 0, 0], { file: folder })).ended).toMatchObject({
      message: `--alarm: ${folder} is not a regular file`,
    });
  });
});
