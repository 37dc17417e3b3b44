/** Compares the counts of lists with a recount of the rows after every kind of change. */
import { replacePastResponse, storePastResponses } from "../../../../src/service/domain/answers/response-changes.ts";
import { expect, test } from "vitest";
import type { Expansion } from "../../../../src/contract/routes.ts";
import { copyRows } from "../../../../src/service/domain/moving/moving.ts";
import { recordBounce, unsubscribePerson } from "../../../../src/service/domain/people/suppressions.ts";
import { getMetrics } from "../../../../src/service/domain/answers/metrics.ts";
import { deletePerson } from "../../../../src/service/domain/people/people.ts";
import { addTrend, removeTrend } from "../../../../src/service/domain/answers/trends.ts";
import type { StoredPastResponse } from "../../../../src/service/domain/answers/response-columns.ts";
import { type Fixture, links, metricsQuery, openFixture, responsesQuery, START } from "../../domain/fixture.ts";
import { listResponses } from "../../domain/lists.ts";

const DAY = 86_400;
const PEOPLE = 50;
/** A trend with a third of these takes more than one step. */
const RESPONSES = 4000;
/** Fewer than a day's rows, so that pages begin within days. */
const PER_PAGE = 5;
const [FIRST_PERSON, FIRST_RESPONSE] = [1, 1000];
const times = {
  lastSentAt: null,
  lastRespondedAt: null,
  unsubscribedAt: null,
  unsubscribedBy: null,
  bouncedAt: null,
  writes: 0,
  valueWrites: 0,
};

const pastPerson = (n: number) => ({
  ...times,
  id: FIRST_PERSON + n,
  email: `p${n}@x.co`,
  name: null,
  phoneNumber: null,
  properties: null,
  createdAt: n * DAY,
  bouncedAt: n % 7 === 0 ? n * DAY + 5 : null,
});

const pastResponse = (n: number): StoredPastResponse => ({
  id: FIRST_RESPONSE + n,
  personId: FIRST_PERSON + (n % PEOPLE),
  surveyType: n % 11 === 0 ? "csat" : "nps",
  score: n % 10,
  comment: null,
  createdAt: n * (DAY / 9),
  updatedAt: START + n,
  properties: JSON.stringify({ plan: n % 3 === 0 ? "pro" : "free" }),
  tags: "[]",
  additionalAnswers: "[]",
  notes: "[]",
  noteIds: "[]",
});

const many = <Row>(count: number, make: (n: number) => Row): Row[] => Array.from({ length: count }, (_, n) => make(n));

async function importHistory({ project, ...fixture }: Fixture): Promise<void> {
  await fixture.write(async (tx) => {
    await tx.history.reserve(project.id, FIRST_RESPONSE + RESPONSES);
    await tx.history.insertPeople(project.id, many(PEOPLE, pastPerson));
    const responses = many(RESPONSES, pastResponse);
    for (let at = 0; at < RESPONSES; at += 1000)
      await storePastResponses(tx, project.id, responses.slice(at, at + 1000));
  });
}

const coreOf = (rows: readonly StoredPastResponse[]): unknown => {
  const scores = rows.filter(({ surveyType }) => surveyType === "nps").map(({ score }) => score);
  return {
    response_count: scores.length,
    promoter_count: scores.filter((score) => score >= 9).length,
    detractor_count: scores.filter((score) => score < 7).length,
  };
};

test("when history comes in and is replaced, then pages and metrics of any days are those of the rows", async () => {
  const fixture = await openFixture();
  const { project, store } = fixture;
  await importHistory(fixture);
  const rows = many(RESPONSES, pastResponse);
  const [moved, other] = [{ ...pastResponse(700), createdAt: 3 * DAY, score: 10 }, pastResponse(11)];
  rows[700] = moved;
  rows[11] = { ...other, surveyType: "nps" };
  await fixture.write(async (tx) => {
    await replacePastResponse(tx, project.id, moved);
    await replacePastResponse(tx, project.id, { ...other, surveyType: "nps" });
    await tx.history.replacePerson(project.id, { ...pastPerson(7), bouncedAt: 400 * DAY, unsubscribedAt: 2 });
  });
  expect(await store.check()).toEqual([]);
  for (const [since, until] of [
    [null, null],
    [3 * DAY, 4 * DAY - 1],
    [3 * DAY + 1, 200 * DAY + 7],
    [3 * DAY + 1, 5 * DAY - 2],
    [3 * DAY, null],
    [null, 90 * DAY],
    [90 * DAY - 1, 90 * DAY],
    [90 * DAY, 90 * DAY - 1],
    [90 * DAY + 30_000, 90 * DAY + 60_000],
    [90 * DAY + 10_000, 90 * DAY + 80_000],
    [90 * DAY + 80_000, 91 * DAY + 10_000],
    [90 * DAY + 10_000, 91 * DAY + 80_000],
    [91 * DAY + 10_000, 90 * DAY + 80_000],
    [600 * DAY, null],
  ] as const) {
    const within = rows
      .filter(({ createdAt }) => createdAt >= (since ?? 0) && createdAt <= (until ?? Infinity))
      .toSorted((one, two) => one.createdAt - two.createdAt || one.id - two.id);
    const metrics = await fixture.read((tx) => getMetrics(tx, project, metricsQuery({ since, until })));
    expect(metrics).toMatchObject(coreOf(within) as object);
    for (const order of ["asc", "desc"] as const)
      for (const page of [
        1,
        2,
        3,
        60,
        61,
        Math.ceil(within.length / PER_PAGE),
        Math.ceil(within.length / PER_PAGE) + 1,
      ]) {
        if (page === 0) continue;
        const query = responsesQuery({ since, until, order, page, perPage: PER_PAGE });
        const found = await fixture.read((tx) => listResponses(tx, project, query, links));
        const expected = order === "asc" ? within : within.toReversed();
        expect(found.map(({ id }) => Number(id))).toEqual(
          expected.slice((page - 1) * PER_PAGE, page * PER_PAGE).map(({ id }) => id),
        );
      }
  }
  await store.close();
});

test("when a day has very many responses, then each of its pages has its rows, whichever end is nearer", async () => {
  const fixture = await openFixture();
  const { project, store } = fixture;
  const count = 24_000;
  const rows = many(count, (n) => ({ ...pastResponse(n), createdAt: 9 * DAY + n * 3 }));
  await fixture.write(async (tx) => {
    await tx.history.reserve(project.id, FIRST_RESPONSE + count);
    await tx.history.insertPeople(project.id, many(PEOPLE, pastPerson));
    for (let at = 0; at < count; at += 1000) await storePastResponses(tx, project.id, rows.slice(at, at + 1000));
  });
  for (const [since, until] of [
    [null, null],
    [9 * DAY + 30, 9 * DAY + 71_980],
  ] as const)
    for (const [order, expand] of [
      ["asc", new Set<Expansion>()],
      ["desc", new Set<Expansion>(["person"])],
    ] as const)
      for (const page of [2, 160, 200, 239, 240, 241]) {
        const within = rows.filter(({ createdAt }) => createdAt >= (since ?? 0) && createdAt <= (until ?? Infinity));
        const query = responsesQuery({ since, until, order, page, perPage: 100, expand });
        const found = await fixture.read((tx) => listResponses(tx, project, query, links));
        const expected = order === "asc" ? within : within.toReversed();
        expect(found.map(({ id }) => Number(id))).toEqual(
          expected.slice((page - 1) * 100, page * 100).map(({ id }) => id),
        );
      }
  await store.close();
});

test("when one of the writes that share a commit is undone, then the tallies are without it", async () => {
  const fixture = await openFixture();
  const { project, store } = fixture;
  await importHistory(fixture);
  const outcomes = await Promise.allSettled(
    many(20, (n) =>
      fixture.write(async (tx) => {
        const person = { email: `new${n}@x.co`, name: null, phoneNumber: null, createdAt: START, lastSentAt: null };
        const { id } = await tx.people.insert(project.id, person);
        await unsubscribePerson(tx, project, id);
        if (n % 3 === 0) throw new Error("undone");
      }),
    ),
  );
  const done = outcomes.filter(({ status }) => status === "fulfilled").length;
  expect(done).toBe(13);
  expect((await fixture.read((tx) => tx.projects.counts(project.id))).people).toBe(PEOPLE + done);
  expect(
    await fixture.read((tx) => tx.people.countEvents(project.id, "unsubscribed_at", { since: START, until: null })),
  ).toBe(done);
  expect(await store.check()).toEqual([]);
  await store.close();
});

test("when trends are filled and removed in steps and people are deleted, then the tallies are right at each step", async () => {
  const fixture = await openFixture();
  const { project, store } = fixture;
  await importHistory(fixture);
  const trend = await fixture.write((tx) => addTrend(tx, project, "pro", { plan: "pro" }));
  expect(await store.check()).toEqual([]);
  await fixture.write((tx) => recordBounce(tx, project, FIRST_PERSON));
  await fixture.write((tx) => deletePerson(tx, project, { by: "id", id: String(FIRST_PERSON + 1) }));
  expect(await store.check()).toEqual([]);
  await store.settle();
  const left = many(RESPONSES, pastResponse).filter(({ personId }) => personId !== FIRST_PERSON + 1);
  const pro = left.filter(({ properties }) => properties.includes("pro"));
  const ask = metricsQuery({ trend: String(trend.id) });
  expect(await fixture.read((tx) => getMetrics(tx, project, ask))).toMatchObject(coreOf(pro) as object);
  expect(await store.check()).toEqual([]);
  const removal = fixture.write((tx) => removeTrend(tx, project, String(trend.id)));
  await fixture.write((tx) => deletePerson(tx, project, { by: "id", id: String(FIRST_PERSON + 3) }));
  await removal;
  expect(await store.check()).toEqual([]);
  await store.settle();
  expect(await store.check()).toEqual([]);
  await store.close();
});

test("when rows move to another store, then their tallies are right there, and wrong ones are told", async () => {
  const [from, to] = [await openFixture(), await openFixture()];
  await importHistory(from);
  await from.read((tx) => to.write((other) => copyRows(tx, other, async () => undefined)));
  const all = { since: null, until: null };
  const counts = await to.read(async (tx) => [
    await tx.projects.counts(from.project.id),
    await tx.people.countEvents(from.project.id, "bounced_at", all),
  ]);
  expect(counts).toEqual([{ people: PEOPLE, responses: RESPONSES }, 8]);
  expect(await to.store.check()).toEqual([]);
  await to.write(async ({ tables }) => {
    const day = { span: 1, number: 9_999, n: 1, promoters: 0, passives: 0, detractors: 0 };
    await tables.insert("row_counts", [{ project_id: to.project.id, list: "bounced_at", ...day }]);
  });
  expect(await to.store.check()).toEqual([`the counts of bounced_at in project ${to.project.id} are wrong`]);
  for (const { store } of [from, to]) await store.close();
});
