import { storeResponse } from "../../../../../src/service/domain/answers/response-changes.ts";
import { spawn } from "node:child_process";
import { copyFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { addMember } from "../../../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { configureAutopilot } from "../../../../../src/service/domain/surveys/autopilot/autopilot-settings.ts";
import { getMetrics } from "../../../../../src/service/domain/answers/metrics.ts";
import { deletePerson, sendPerson } from "../../../../../src/service/domain/people/people.ts";
import type { Transaction } from "../../../../../src/service/domain/ports.ts";
import { addTrend, removeTrend } from "../../../../../src/service/domain/answers/trends.ts";
import { finishDelivery } from "../../../../../src/service/domain/delivery/deliveries.ts";
import { size } from "../../../../helpers/long.ts";
import { useChildProgram } from "../../../../helpers/child-program.ts";
import {
  DAY,
  START,
  links,
  memberInput,
  membersQuery,
  metricsQuery,
  openFixture,
  peopleQuery,
  responsesQuery,
  sendInput,
  type Fixture,
  type StoreEngine,
} from "../../../domain/fixture.ts";
import { listMembers, listPeople, listResponses } from "../../../domain/lists.ts";
import { onPostgres } from "../../../../helpers/postgres.ts";
import { newDataFile, openRawDatabase, STORES } from "../../engines.ts";
import { claimDue } from "../../../domain/claim-due.ts";

const ROWS = 3500;
/** Saving a member takes three times as long as saving a response. */
const MEMBERS = size(1100, 3500);
const TIMEOUT_MS = 120_000;
const LAST_MEMBER = `p${MEMBERS - 1}@x.co`;

const program = useChildProgram(path.join(import.meta.dirname, "child-changer.ts"));

/** Starts a change in a process that kills itself once the change is acknowledged. Returns its output and signal. */
function killedAfterBeginning(file: string, kind: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program.script, file, kind], { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
    child.on("error", reject);
    child.on("close", (_, signal) => resolve(`${said}${String(signal)}`));
  });
}

async function saveMany(fixture: Fixture): Promise<number> {
  const { project } = fixture;
  const sent = await fixture.write((tx) => sendPerson(tx, project, sendInput({ email: "many@x.co", send: false })));
  const personId = Number(sent.person.id);
  const rows = async (tx: Transaction): Promise<void> => {
    for (let index = 0; index < ROWS; index += 1) {
      await storeResponse(tx, project.id, {
        personId,
        score: index % 11,
        comment: null,
        personProperties: { plan: index % 2 === 0 ? "pro" : "free" },
        token: tx.token(),
        createdAt: START + index,
        updatedAt: START + index,
        requestId: null,
      });
    }
  };
  await fixture.store.write(rows, { project: project.id, isLong: true });
  return personId;
}

async function enrolMany(fixture: Fixture): Promise<void> {
  const { project } = fixture;
  const isLong = { project: project.id, isLong: true } as const;
  await fixture.store.write(async (tx) => {
    for (let index = 0; index < MEMBERS; index += 1)
      await addMember(tx, project, memberInput({ personEmail: `p${index}@x.co` }));
  }, isLong);
  await fixture.store.write(async (tx) => {
    for (const survey of await claimDue(tx, { claimer: "one", channel: "email", leaseSeconds: 60, limit: MEMBERS }))
      await finishDelivery(tx, survey, { kind: "sent" });
  }, isLong);
}

const filled = new Map<string, Promise<string>>();

/** Copies a data file that `fill` filled. Each data file is filled only once, but a database every time. */
async function fileWith(engine: StoreEngine, fill: (fixture: Fixture) => Promise<unknown>): Promise<string> {
  if (onPostgres) return fillFile(engine, fill);
  const name = `${engine} ${fill.name}`;
  const made = filled.get(name) ?? fillFile(engine, fill);
  filled.set(name, made);
  const file = newDataFile();
  copyFileSync(await made, file);
  return file;
}

async function fillFile(engine: StoreEngine, fill: (fixture: Fixture) => Promise<unknown>): Promise<string> {
  const file = newDataFile();
  const fixture = await openFixture({ file, engine });
  await fill(fixture);
  await fixture.store.close();
  return file;
}

const count = async (fixture: Fixture, trend: string | null) =>
  (await fixture.read((tx) => getMetrics(tx, fixture.project, metricsQuery({ trend })))).response_count;

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (error as Error).message,
  );

describe.each(STORES)("%s", (engine) => {
  const withStore = async (fill: (fixture: Fixture) => Promise<unknown>, look: (fixture: Fixture) => Promise<void>) => {
    const fixture = await openFixture({ file: await fileWith(engine, fill), engine });
    try {
      await look(fixture);
      await fixture.store.settle();
      expect(await fixture.store.check()).toEqual([]);
    } finally {
      await fixture.store.close();
    }
  };

  test("when a trend is added to many responses, then it is refused until all are in it, and others are served meanwhile", () =>
    withStore(saveMany, async (fixture) => {
      const trend = await fixture.write((tx) => addTrend(tx, fixture.project, "pro", { plan: "pro" }));
      const answers: (number | string | undefined)[] = [];
      const state = { isSettled: false };
      const settled = fixture.store.settle().then(() => (state.isSettled = true));
      while (!state.isSettled) {
        answers.push(await count(fixture, String(trend.id)).catch((error: unknown) => (error as Error).message));
      }
      await settled;
      const refused = answers.filter((answer) => answer !== ROWS / 2);
      expect(refused.length).toBeGreaterThanOrEqual(2);
      expect(new Set(refused)).toEqual(new Set(["trend is not ready yet; try again in a moment"]));
      expect(await count(fixture, String(trend.id))).toBe(ROWS / 2);
    }));

  test("when a trend is removed, then it is gone at once", () =>
    withStore(saveMany, async (fixture) => {
      const trend = await fixture.write((tx) => addTrend(tx, fixture.project, "pro", { plan: "pro" }));
      await fixture.store.settle();
      const remove = () => fixture.write((tx) => removeTrend(tx, fixture.project, String(trend.id)));
      await remove();
      expect(await reasonOf(count(fixture, String(trend.id)))).toContain("has no trend");
      await expect(remove()).rejects.toThrow("has no trend");
    }));

  test("when a person with many responses is deleted, then they are gone at once, their address is free, and the rest follows", () =>
    withStore(saveMany, async (fixture) => {
      const { project } = fixture;
      const old = await fixture.read((tx) => tx.people.byEmail(project.id, "many@x.co"));
      const isDone = await fixture.write((tx) => deletePerson(tx, project, { by: "email", email: "many@x.co" }));
      expect(isDone).toBe(false);
      expect(await fixture.read((tx) => tx.people.byId(project.id, old?.id ?? 0))).toBe(null);
      expect((await fixture.read((tx) => listPeople(tx, project, peopleQuery()))).rows).toEqual([]);
      const again = sendInput({ email: "many@x.co", send: false });
      expect((await fixture.write((tx) => sendPerson(tx, project, again))).created).toBe(true);
      await fixture.store.settle();
      expect(await count(fixture, null)).toBe(0);
      expect(await fixture.read((tx) => listResponses(tx, project, responsesQuery(), links))).toEqual([]);
      expect(await fixture.read((tx) => tx.projects.counts(project.id))).toEqual({ people: 1, responses: 0 });
    }));

  test("when many members' frequency is changed, then all follow, and others are served meanwhile", () =>
    withStore(enrolMany, async (fixture) => {
      const { project } = fixture;
      await fixture.write((tx) => configureAutopilot(tx, project, "email", { frequency: DAY }));
      const state = { isSettled: false, reads: 0 };
      const settled = fixture.store.settle().then(() => (state.isSettled = true));
      while (!state.isSettled) {
        await fixture.read((tx) => tx.projects.list());
        state.reads += 1;
      }
      await settled;
      expect(state.reads).toBeGreaterThanOrEqual(2);
      const last = membersQuery({ platform: "email", personEmail: LAST_MEMBER });
      const { rows } = await fixture.read((tx) => listMembers(tx, project, last));
      expect(rows.map((row) => row.next_survey_request?.survey_scheduled_at)).toEqual([START + DAY]);
    }));
});

describe.skipIf(onPostgres)("sqlite", () => {
  const engine = "sqlite";
  const KILLED = [
    {
      kind: "add trend",
      fill: saveMany,
      look: async (fixture: Fixture) => {
        const [trend] = await fixture.read((tx) => tx.trends.list(fixture.project.id));
        return count(fixture, String(trend?.id));
      },
      seen: ROWS / 2,
      inTrend: ROWS / 2,
    },
    {
      kind: "remove trend",
      fill: saveMany,
      prepare: async (fixture: Fixture) => {
        await fixture.write((tx) => addTrend(tx, fixture.project, "pro", { plan: "pro" }));
        await fixture.store.settle();
      },
      look: (fixture: Fixture) => fixture.read((tx) => tx.trends.list(fixture.project.id)),
      seen: [],
      inTrend: 0,
    },
    {
      kind: "delete person",
      fill: saveMany,
      look: (fixture: Fixture) => fixture.read((tx) => tx.projects.counts(fixture.project.id)),
      seen: { people: 0, responses: 0 },
      inTrend: 0,
    },
    {
      kind: "frequency",
      fill: enrolMany,
      look: async (fixture: Fixture) => {
        const person = await fixture.read((tx) => tx.people.byEmail(fixture.project.id, LAST_MEMBER));
        return [person?.lastSentAt, person?.nextSurveyAt];
      },
      seen: [START, START + 60],
      inTrend: 0,
    },
  ];
  // The short run takes one change that adds rows and one that removes them.
  test.each(KILLED.filter((_, at) => at % size(2, 1) === 0))(
    "when a process is killed in the middle of $kind, then the next one finishes it",
    async ({ kind, fill, prepare, look, seen, inTrend }) => {
      const file = await fileWith(engine, fill);
      if (prepare !== undefined) {
        const first = await openFixture({ file, engine });
        await prepare(first);
        await first.store.close();
      }
      expect(await killedAfterBeginning(file, kind)).toBe("begun\nSIGKILL");
      const second = await openFixture({ file, engine });
      await second.store.settle();
      expect(await second.store.check()).toEqual([]);
      expect(await look(second)).toEqual(seen);
      await second.store.close();
      const raw = await openRawDatabase(file);
      const [row] = raw.all("SELECT count(*) AS count FROM trend_responses");
      raw.close();
      expect(row?.count).toBe(inTrend);
    },
    TIMEOUT_MS,
  );
});
