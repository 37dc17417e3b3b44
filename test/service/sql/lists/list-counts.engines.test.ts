import {
  changeResponse,
  storePastResponses,
  storeResponse,
} from "../../../../src/service/domain/answers/response-changes.ts";
import { array, assert, asyncProperty, constantFrom, nat, oneof, option, record, type Arbitrary } from "fast-check";
import { describe, expect, test } from "vitest";
import type { SurveyResponse } from "../../../../src/contract/resources.ts";
import { RESPONSE_ORDERS, type ResponseOrder } from "../../../../src/contract/routes.ts";
import type { Transaction } from "../../../../src/service/domain/ports.ts";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import { recordBounce, unsubscribePerson } from "../../../../src/service/domain/people/suppressions.ts";
import { getMetrics } from "../../../../src/service/domain/answers/metrics.ts";
import { deletePerson, sendPerson } from "../../../../src/service/domain/people/people.ts";
import { addResponse, updateResponse } from "../../../../src/service/domain/answers/responses.ts";
import { addTrend, removeTrend } from "../../../../src/service/domain/answers/trends.ts";
import {
  claimAll,
  links,
  metricsQuery,
  openFixture,
  responseInput,
  responsesQuery,
  sendInput,
  START,
  type Fixture,
} from "../../domain/fixture.ts";
import { size } from "../../../helpers/long.ts";
import { onPostgres } from "../../../helpers/postgres.ts";
import { listResponses } from "../../domain/lists.ts";
import { STORES } from "../../store/engines.ts";

const PEOPLE = 4;
/** Seconds between timestamps. About three rows a day, so ranges contain partial and whole days. */
const APART = 30_000;
const RUNS = { numRuns: size(onPostgres ? 1 : 3, 60) };

type Change =
  | {
      readonly kind: "add";
      readonly person: number;
      readonly score: number;
      readonly at: number;
      readonly plan: string;
    }
  | { readonly kind: "edit"; readonly row: number; readonly score: number; readonly plan: string }
  | { readonly kind: "move"; readonly row: number; readonly person: number }
  | { readonly kind: "delete" | "unsubscribe" | "bounce"; readonly person: number }
  | { readonly kind: "send" }
  | { readonly kind: "add trend" | "remove trend"; readonly plan: string };

const anyTime = nat(9).map((n) => n * APART);
const [somebody, anyScore, anyRow, anyPlan] = [nat(PEOPLE - 1), nat(10), nat(60), constantFrom("pro", "free")];
const kindOf = <Kind extends string>(...kinds: Kind[]): Arbitrary<Kind> => constantFrom(...kinds);
// Weighted towards new rows, so that there is something to change.
const anyChange: Arbitrary<Change> = oneof(
  {
    arbitrary: record({ kind: kindOf("add"), person: somebody, score: anyScore, at: anyTime, plan: anyPlan }),
    weight: 12,
  },
  { arbitrary: record({ kind: kindOf("edit"), row: anyRow, score: anyScore, plan: anyPlan }), weight: 4 },
  { arbitrary: record({ kind: kindOf("move"), row: anyRow, person: somebody }), weight: 2 },
  { arbitrary: record({ kind: kindOf("delete", "unsubscribe", "bounce"), person: somebody }), weight: 1 },
  { arbitrary: record({ kind: kindOf("send") }), weight: 1 },
  { arbitrary: record({ kind: kindOf("add trend", "remove trend"), plan: anyPlan }), weight: 1 },
);

interface World {
  readonly fixture: Fixture;
  readonly people: string[];
  readonly trends: Map<string, string>;
}

const saveSomebody = async ({ fixture }: World): Promise<string> => {
  const email = `p${fixture.time.now}@x.co`;
  fixture.time.now += 1;
  return (await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email })))).person.id;
};

async function apply(world: World, change: Change): Promise<void> {
  const { fixture, people, trends } = world;
  const { project } = fixture;
  fixture.time.now += APART;
  if (change.kind === "add") {
    const { person, score, at, plan } = change;
    const input = responseInput({ personId: people[person] ?? "", score, createdAt: at, personProperties: { plan } });
    await fixture.write((tx) => addResponse(tx, project, input, links));
  } else if (change.kind === "edit" || change.kind === "move") {
    const rows = await everything(fixture);
    const found = rows[change.row % Math.max(rows.length, 1)];
    if (found === undefined) return;
    const edit =
      change.kind === "move"
        ? { personId: people[change.person] ?? "" }
        : { score: change.score, personProperties: { plan: change.plan } };
    await fixture.write((tx) => updateResponse(tx, project, found.id, edit, new Set(), links));
  } else if (change.kind === "delete") {
    const id = people[change.person] ?? "";
    await fixture.write((tx) => deletePerson(tx, project, { by: "id", id }));
    people[change.person] = await saveSomebody(world);
  } else if (change.kind === "unsubscribe") {
    await fixture.write((tx) => unsubscribePerson(tx, project, Number(people[change.person])));
  } else if (change.kind === "bounce") {
    await fixture.write((tx) => recordBounce(tx, project, Number(people[change.person])));
  } else if (change.kind === "send") {
    await deliverAll(fixture);
  } else if (change.kind === "add trend" && !trends.has(change.plan)) {
    const trend = await fixture.write((tx) => addTrend(tx, project, change.plan, { plan: change.plan }));
    trends.set(change.plan, String(trend.id));
  } else if (change.kind === "remove trend" && trends.has(change.plan)) {
    await fixture.write((tx) => removeTrend(tx, project, trends.get(change.plan) ?? ""));
    trends.delete(change.plan);
  }
}

async function deliverAll(fixture: Fixture): Promise<void> {
  const due = await fixture.write(claimAll);
  for (const survey of due) await fixture.write((tx) => finishDelivery(tx, survey, { kind: "sent" }));
}

async function everything(fixture: Fixture): Promise<SurveyResponse[]> {
  return fixture.read(async (tx) => {
    const rows: SurveyResponse[] = [];
    for (let id = 1; id <= 400; id += 1) {
      const json = await tx.responses.json(fixture.project.id, id, SHAPE);
      if (json !== null) rows.push(JSON.parse(json) as SurveyResponse);
    }
    return rows;
  });
}

const SHAPE = { expandPerson: false, expandNotes: true, permalinkPrefix: links.permalink("") };

interface Asked {
  readonly order: ResponseOrder;
  readonly page: number;
  readonly perPage: number;
  readonly since: number | null;
  readonly until: number | null;
  readonly updatedSince: number | null;
  readonly updatedUntil: number | null;
  readonly trend: string | null;
}

const time = option(oneof(anyTime, nat(10 * APART)));
const changedAt = option(nat(80).map((n) => START + n * APART));
const asked: Arbitrary<Asked> = record({
  order: constantFrom(...RESPONSE_ORDERS),
  page: nat(8).map((before) => before + 1),
  perPage: nat(6).map((more) => more + 1),
  since: time,
  until: time,
  updatedSince: changedAt,
  updatedUntil: changedAt,
  trend: constantFrom(null, null, "pro", "free"),
});

const isIn = (at: number, since: number | null, until: number | null): boolean =>
  (since === null || at >= since) && (until === null || at <= until);

/** A straightforward implementation of the specification's paging. */
function naivePage(rows: readonly SurveyResponse[], query: Asked): SurveyResponse[] {
  const key = (row: SurveyResponse): number =>
    query.order.endsWith("updated_at") ? (row.updated_at ?? 0) : row.created_at;
  const found = rows
    .filter((row) => isIn(row.created_at, query.since, query.until))
    .filter((row) => isIn(row.updated_at ?? 0, query.updatedSince, query.updatedUntil))
    .filter((row) => query.trend === null || row.person_properties?.plan === query.trend)
    .toSorted((one, other) => key(one) - key(other) || Number(one.id) - Number(other.id));
  const ordered = query.order.startsWith("desc") ? found.toReversed() : found;
  return ordered.slice((query.page - 1) * query.perPage, query.page * query.perPage);
}

function naiveScores(rows: readonly SurveyResponse[], { since, until, trend }: Asked): number[] {
  const scores = rows
    .filter((row) => isIn(row.created_at, since, until) && (trend === null || row.person_properties?.plan === trend))
    .map((row) => row.score);
  return [scores.filter((each) => each >= 9).length, scores.filter((each) => each < 7).length, scores.length];
}

describe.each(STORES)("%s", (engine) => {
  const withWorld = async (changes: readonly Change[], look: (world: World) => Promise<void>): Promise<void> => {
    const fixture = await openFixture({ engine });
    const world: World = { fixture, people: [], trends: new Map() };
    try {
      for (let index = 0; index < PEOPLE; index += 1) world.people.push(await saveSomebody(world));
      for (const each of changes) await apply(world, each);
      await look(world);
      expect(await fixture.store.check()).toEqual([]);
    } finally {
      await fixture.store.close();
    }
  };
  const changes = array(anyChange, { minLength: 30, maxLength: 80 });

  test("when responses are added in the past, edited, moved, deleted and filtered, then every page and metric is that of a naive count", () =>
    assert(
      asyncProperty(changes, array(asked, { minLength: 20, maxLength: 20 }), async (changed, queries) =>
        withWorld(changed, async ({ fixture, trends }) => {
          const rows = await everything(fixture);
          for (const query of queries) {
            if (query.trend !== null && !trends.has(query.trend)) continue;
            const trend = query.trend === null ? null : (trends.get(query.trend) ?? null);
            const given = { ...query, trend };
            const page = await fixture.read((tx) => listResponses(tx, fixture.project, responsesQuery(given), links));
            expect(page).toEqual(naivePage(rows, query));
            const metrics = await fixture.read((tx) => getMetrics(tx, fixture.project, metricsQuery(given)));
            const { promoter_count, detractor_count, response_count } = metrics;
            expect([promoter_count, detractor_count, response_count]).toEqual(naiveScores(rows, query));
          }
        }),
      ),
      RUNS,
    ));

  test("when people bounce, leave, are sent to and are deleted, then the counts of each are those of the lists", () =>
    assert(
      asyncProperty(changes, time, async (changed, seconds) =>
        withWorld(changed, async ({ fixture }) => {
          const { project } = fixture;
          await deliverAll(fixture);
          const range = { since: seconds === null ? null : START + 5 * seconds, until: START + 50 * APART };
          const all = { ...range, offset: 0, limit: 1000 };
          const [bounced, unsubscribed, metrics, counts] = await fixture.read(async (tx) => [
            await tx.people.listEvents(project.id, "bounced_at", all),
            await tx.people.listEvents(project.id, "unsubscribed_at", all),
            await getMetrics(tx, project, metricsQuery({ ...range, groups: new Set(["email"]) })),
            await tx.projects.counts(project.id),
          ]);
          expect(metrics).toMatchObject({
            email_bounce_count: bounced.length,
            email_unsubscribe_count: unsubscribed.length,
          });
          expect(counts).toEqual({ people: PEOPLE, responses: (await everything(fixture)).length });
        }),
      ),
      RUNS,
    ));

  test("when a page begins before a gap in the list and ends behind it, then it has the rows of both sides", async () => {
    const fixture = await openFixture({ engine });
    const { id: project } = fixture.project;
    await fixture.write(async (tx) => {
      const nobody = { email: null, name: null, phoneNumber: null, createdAt: 0, lastSentAt: null };
      const { id: personId } = await tx.people.insert(project, nobody);
      for (let at = 0; at < 30; at += 1) {
        const text = { score: 1, comment: null, personProperties: {}, token: tx.token(), requestId: null };
        const updatedAt = at < 10 || at >= 20 ? 100 : 50;
        await storeResponse(tx, project, { ...text, personId, createdAt: at, updatedAt });
      }
    });
    const query = responsesQuery({ updatedSince: 60, page: 2, perPage: 7 });
    const page = await fixture.read((tx) => listResponses(tx, fixture.project, query, links));
    expect(page.map((row) => row.created_at)).toEqual([7, 8, 9, 20, 21, 22, 23]);
    await fixture.store.close();
  });

  test("when pages are read between writes, also ones that are rolled back, then each page has its rows, and metrics their scores", async () => {
    const fixture = await openFixture({ engine });
    const { id: project } = fixture.project;
    const scores = new Map<number, number>();
    const nobody = { email: null, name: null, phoneNumber: null, createdAt: 0, lastSentAt: null };
    const { id: personId } = await fixture.write((tx) => tx.people.insert(project, nobody));
    const insert = (tx: Transaction, createdAt: number): Promise<number> =>
      storeResponse(tx, project, {
        personId,
        createdAt,
        updatedAt: START,
        score: createdAt % 11,
        comment: null,
        personProperties: {},
        token: tx.token(),
        requestId: null,
      });
    const times: number[] = [];
    for (let index = 0; index < 60; index += 1) {
      const at = (index * 37) % 60;
      const refused = fixture.write(async (tx) => {
        await insert(tx, at);
        throw new Error("refused");
      });
      await expect(refused).rejects.toThrow("refused");
      const id = await fixture.write((tx) => insert(tx, at));
      times.push(at);
      scores.set(at, at % 11);
      if (at % 3 === 0) {
        await fixture.write((tx) => changeResponse(tx, project, id, { score: 10, updatedAt: START }));
        scores.set(at, 10);
      }
      const sorted = times.toSorted((one, other) => one - other);
      for (let page = 1; page <= Math.ceil(sorted.length / 3) + 1; page += 1) {
        const query = responsesQuery({ page, perPage: 3 });
        const rows = await fixture.read((tx) => listResponses(tx, fixture.project, query, links));
        expect(rows.map((row) => row.created_at)).toEqual(sorted.slice((page - 1) * 3, page * 3));
      }
      const since = sorted.at(2) ?? 0;
      const query = responsesQuery({ order: "desc", since, page: 3, perPage: 2 });
      const rows = await fixture.read((tx) => listResponses(tx, fixture.project, query, links));
      const newest = sorted.filter((one) => one >= since).toReversed();
      expect(rows.map((row) => row.created_at)).toEqual(newest.slice(4, 6));
      const until = sorted.at(-3) ?? 60;
      const metrics = await fixture.read((tx) => getMetrics(tx, fixture.project, metricsQuery({ since, until })));
      const within = sorted.filter((one) => one >= since && one <= until).map((one) => scores.get(one) ?? 0);
      expect(metrics).toMatchObject({
        promoter_count: within.filter((score) => score >= 9).length,
        detractor_count: within.filter((score) => score < 7).length,
        response_count: within.length,
      });
    }
    await fixture.store.close();
  });

  test("when responses are of other survey types, then no metric counts them, nor that of a trend", async () => {
    const fixture = await openFixture({ engine });
    const { project } = fixture;
    const trend = await fixture.write((tx) => addTrend(tx, project, "pro", { plan: "pro" }));
    await fixture.write(async (tx) => {
      const nobody = { email: null, name: null, phoneNumber: null, createdAt: 0, lastSentAt: null };
      const { id: personId } = await tx.people.insert(project.id, nobody);
      for (let at = 0; at < 20; at += 1) {
        const lists = { tags: "[]", additionalAnswers: "[]", notes: "[]", noteIds: "[]" };
        const text = { id: await tx.history.newId(project.id), comment: null, properties: '{"plan":"pro"}', ...lists };
        const surveyType = ["nps", "csat", "ces", "nps"][at % 4] ?? "";
        const row = { ...text, personId, surveyType, score: at % 4 === 3 ? 10 : 5, createdAt: at, updatedAt: at };
        await storePastResponses(tx, project.id, [row]);
      }
    });
    const counts = { response_count: 10, promoter_count: 5, passive_count: 0, detractor_count: 5 };
    for (const query of [{}, { trend: String(trend.id) }])
      expect(await fixture.read((tx) => getMetrics(tx, project, metricsQuery(query)))).toMatchObject(counts);
    const some = metricsQuery({ since: 3, until: 9 });
    expect(await fixture.read((tx) => getMetrics(tx, project, some))).toMatchObject({
      response_count: 4,
      promoter_count: 2,
    });
    await fixture.write((tx) => updateResponse(tx, project, "3", { score: 1 }, new Set(), links));
    expect((await fixture.read((tx) => tx.projects.counts(project.id))).responses).toBe(20);
    expect(await fixture.store.check()).toEqual([]);
    await fixture.store.close();
  });
});
