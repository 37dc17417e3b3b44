import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemRandom } from "../../../src/runtime/random.ts";
import { createWallClock } from "../../../src/runtime/zone.ts";
import { addProject } from "../../../src/service/domain/projects/projects.ts";
import { changeSettings } from "../../../src/service/domain/projects/settings.ts";
import { addMember } from "../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { createChance } from "../../../src/service/rehearsal/simulated.ts";
import { rehearse } from "../../../src/service/rehearsal/rehearse.ts";
import type { RehearsedMessage } from "../../../src/service/rehearsal/results.ts";
import { size } from "../../helpers/long.ts";
import { databaseOf, onPostgres } from "../../helpers/postgres.ts";
import { memberInput, openStore } from "../domain/fixture.ts";

const MEMBERS = size(250, 10_000);
const DAY = 86_400;
const FREQUENCY = 90 * DAY;
/** A Tuesday evening in Berlin. */
const START = Date.parse("2026-11-24T20:00:00Z") / 1000;
const ZONE = "Europe/Berlin";
const clock = { now: () => START * 1000, monotonic: () => START * 1000, sleep: () => Promise.resolve() };
const AT_ONCE = 500;

let folder: string;
let dataFile: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-even-"));
  dataFile = path.join(folder, "survey.db");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function enrol(): Promise<number[]> {
  const store = await openStore({ file: dataFile, clock, random: systemRandom });
  const moments: number[] = [];
  const project = await store.write(
    async (tx) => {
      const added = await addProject(tx, "default");
      await changeSettings(tx, added, { timeZone: ZONE });
      return added;
    },
    { project: "all" },
  );
  for (let from = 0; from < MEMBERS; from += AT_ONCE)
    await store.write(
      async (tx) => {
        for (let n = from; n < Math.min(from + AT_ONCE, MEMBERS); n += 1) {
          const { member } = await addMember(tx, project, memberInput({ personEmail: `p${n}@x.co` }));
          moments.push(member.survey_scheduled_at ?? 0);
        }
      },
      { project: "all" },
    );
  await store.close();
  return moments;
}

async function rehearseRounds(rounds: number): Promise<readonly RehearsedMessage[]> {
  const database = await databaseOf(dataFile, onPostgres);
  const { messages } = await rehearse({
    dataFile,
    ...(database !== null && { database: { url: database.url, mayMigrate: true, time: "clock" } as const }),
    clock,
    random: systemRandom,
    project: "default",
    until: START + (rounds + 1) * FREQUENCY,
    answerRate: 0,
    chance: createChance(1),
    onMoment: async () => undefined,
    signal: new AbortController().signal,
  });
  return messages;
}

function toRounds(messages: readonly RehearsedMessage[]): number[][] {
  const people = new Map<string, number[]>();
  for (const { person_id: id, sent_at: at } of messages) people.set(id, [...(people.get(id) ?? []), at]);
  return Array.from({ length: 5 }, (_, round) => [...people.values()].map((moments) => moments[round] ?? 0));
}

function expectEven(moments: readonly number[]): void {
  const wallClock = createWallClock(ZONE);
  const walls = moments.map((at) => new Date(wallClock(at) * 1000));
  const days = countKinds(walls.map((wall) => wall.getUTCDay()));
  const hours = countKinds(walls.map((wall) => wall.getUTCHours()));
  expect([days.kinds, hours.kinds]).toEqual(["1,2,3,4,5", "5,6,7,8,9"]);
  expect(days.away).toBeLessThan(0.1);
  expect(hours.away).toBeLessThan(0.15);
}

function countKinds(kinds: readonly number[]): { readonly kinds: string; readonly away: number } {
  const counts = new Map<number, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const mean = kinds.length / counts.size;
  const away = Math.max(...[...counts.values()].map((count) => Math.abs(count - mean) / mean));
  return { kinds: [...counts.keys()].toSorted((one, other) => one - other).join(), away };
}

test(
  "when many join on one evening, then every round is even over the window's days and hours, and nobody is asked too soon",
  async () => {
    const moments = await enrol();
    expectEven(moments);
    const rounds = toRounds(await rehearseRounds(5));
    expect(rounds.map((round) => round.length)).toEqual([MEMBERS, MEMBERS, MEMBERS, MEMBERS, MEMBERS]);
    expect(new Set(rounds[0])).toEqual(new Set(moments));
    expectEven(rounds[4] ?? []);
    for (const [index, round] of rounds.slice(1).entries()) {
      const early = round.map((at, person) => (rounds[index]?.[person] ?? 0) + FREQUENCY - at);
      expect(Math.max(...early)).toBeLessThan(3 * DAY);
    }
  },
  size(120_000, 1_200_000),
);
