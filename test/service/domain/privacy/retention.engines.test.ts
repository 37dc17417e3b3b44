import { storeResponse } from "../../../../src/service/domain/answers/response-changes.ts";
import { storePastResponses } from "../../../../src/service/domain/answers/response-changes.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { getMetrics } from "../../../../src/service/domain/answers/metrics.ts";
import { addTrend } from "../../../../src/service/domain/answers/trends.ts";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import type { StoredPastResponse } from "../../../../src/service/domain/answers/response-columns.ts";
import type { Project } from "../../../../src/service/domain/inputs.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import {
  changeRetention,
  countExpired,
  followRetention,
  readRetention,
  type RetentionPolicy,
} from "../../../../src/service/domain/privacy/retention.ts";
import {
  claimAll,
  DAY,
  type Fixture,
  metricsQuery,
  openFixture,
  responsesQuery,
  sendInput,
  START,
} from "../fixture.ts";
import { listPeople, listResponses } from "../lists.ts";
import { peopleQuery } from "../fixture.ts";

let fixture: Fixture;
let trend = "";
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.store.close());

const RESPONSES = 600;
/** Expires more than one step's worth of rows. */
const AGE = 20 * DAY;

/** Adds a response every six hours, from three people; every third is in the trend, every seventh isn't NPS. */
async function addResponses(): Promise<void> {
  const { project } = fixture;
  const time = fixture.time.now - (RESPONSES * DAY) / 4;
  await fixture.write(async (tx) => {
    const people: number[] = [];
    for (const email of ["a@x.co", "b@x.co", "c@x.co"])
      people.push(Number((await sendPerson(tx, project, sendInput({ email, send: false }))).person.id));
    const rows: StoredPastResponse[] = [];
    for (let n = 0; n < RESPONSES; n += 1) {
      const createdAt = time + (n * DAY) / 4;
      const properties = JSON.stringify({ plan: n % 3 === 0 ? "pro" : "free", secret: "s3cret" });
      const texts = { tags: '["t"]', additionalAnswers: '["a"]', notes: '[{"id":"1","text":"n"}]', noteIds: '["1"]' };
      const personId = people[n % 3] ?? 0;
      const row = { id: await tx.history.newId(project.id), personId, score: n % 11, comment: `comment ${n}` };
      const surveyType = n % 7 === 0 ? "csat" : "nps";
      rows.push({ ...row, surveyType, createdAt, updatedAt: createdAt + 60, properties, ...texts });
    }
    await storePastResponses(tx, project.id, rows);
    await tx.history.markAnswered(
      project.id,
      people.map((id) => ({ id, at: fixture.time.now })),
    );
    trend = String((await addTrend(tx, project, "Pro", { plan: "pro" })).id);
  });
  await fixture.store.settle();
}

const set = (change: Partial<RetentionPolicy>) => fixture.write((tx) => changeRetention(tx, fixture.project, change));
const follow = () => followRetention(fixture.store, fixture.project);
const count = () =>
  fixture.read(async (tx) => countExpired(tx, fixture.project, await readRetention(tx, fixture.project)));
const metrics = (given: Parameters<typeof metricsQuery>[0] = {}) =>
  fixture.read((tx) => getMetrics(tx, fixture.project, metricsQuery(given)));
const history = async () => {
  const months = [];
  for (let since = START - 160 * DAY; since < START; since += 30 * DAY)
    for (const each of [null, trend]) months.push(await metrics({ since, until: since + 30 * DAY - 1, trend: each }));
  return months;
};
const responses = () =>
  fixture.read((tx) => listResponses(tx, fixture.project, responsesQuery({ perPage: 1000 }), LINKS));
const LINKS = { permalink: (token: string): string => `/r/${token}` };

describe("when responses are made anonymous", () => {
  it("then the score over time stays, in trends too, and nothing tells who they were of", async () => {
    await addResponses();
    const [before, scores] = [await history(), await responses()];
    const expired = scores.filter(({ created_at: at }) => at < START - AGE).length;
    await set({ responses: AGE, mode: "anonymize" });
    expect(await count()).toEqual({ responses: expired, requests: 0, events: 0, log: 0 });
    expect(await follow()).toEqual({ responses: expired, requests: 0, events: 0, log: 0 });
    expect(await history()).toEqual(before);
    expect(await fixture.store.check()).toEqual([]);
    const after = await responses();
    expect(after.map(({ id, score, created_at: at }) => [id, score, at])).toEqual(
      scores.map(({ id, score, created_at: at }) => [id, score, at]),
    );
    const empty = { comment: null, person_properties: {}, tags: [], notes: [], additional_answers: [] };
    const [first] = after;
    const person = first?.person;
    for (const [index, row] of after.entries())
      expect(row).toEqual(index < expired ? { ...scores[index], ...empty, person, updated_at: START } : scores[index]);
    // Clients that poll with `updated_since` see every change, in a trend too.
    const changed = responsesQuery({ updatedSince: START, order: "desc:updated_at", trend, perPage: 1000 });
    const found = await fixture.read((tx) => listResponses(tx, fixture.project, changed, LINKS));
    expect(found.length).toBe(Math.ceil(expired / 3));
    expect([await count(), await follow()]).toEqual([NOTHING, NOTHING]);
    // The placeholder person isn't listed.
    expect((await fixture.read((tx) => listPeople(tx, fixture.project, peopleQuery()))).rows.length).toBe(3);
  });

  it("and more of them grow old, then these follow", async () => {
    await addResponses();
    await set({ responses: AGE, mode: "anonymize" });
    const { responses: first } = await follow();
    fixture.time.now += 10 * DAY;
    expect(await count()).toEqual({ ...NOTHING, responses: 40 });
    expect(await follow()).toEqual({ ...NOTHING, responses: 40 });
    await set({ responses: AGE, mode: "delete" });
    expect(await follow()).toEqual({ ...NOTHING, responses: first + 40 });
    expect(await fixture.store.check()).toEqual([]);
  });
});

describe("when responses are deleted", () => {
  it("then metrics are those of what remains", async () => {
    await addResponses();
    const left = await metrics({ since: START - AGE });
    const inTrend = await metrics({ since: START - AGE, trend });
    await set({ responses: AGE, mode: "delete" });
    const { responses: expired } = await follow();
    expect((await responses()).length).toBe(RESPONSES - expired);
    expect([await metrics(), await metrics({ trend })]).toEqual([left, inTrend]);
    expect(await fixture.store.check()).toEqual([]);
  });
});

describe("when surveys and events are old", () => {
  it("then those that have ended go, with their links, and those that wait stay", async () => {
    const { project } = fixture;
    const send = (email: string, delaySeconds = 0) =>
      fixture.write((tx) => sendPerson(tx, project, sendInput({ email, delaySeconds })));
    await send("a@x.co");
    await send("b@x.co", 500 * DAY);
    const [due] = await fixture.write(claimAll);
    if (due === undefined) throw new Error("nothing was due");
    const event = {
      eventId: "e",
      type: "unsubscribe.created",
      personId: due.person.id,
      json: "{}",
      slack: null,
    } as const;
    await fixture.write(async (tx) => {
      await finishDelivery(tx, due, { kind: "sent" });
      const row = { personId: due.person.id, requestId: due.requestId, score: 9, comment: null, personProperties: {} };
      await storeResponse(tx, project.id, { ...row, token: tx.token(), createdAt: tx.now, updatedAt: tx.now });
      await tx.webhooks.add(project.id, event, []);
    });
    fixture.time.now += 50 * DAY;
    await set({ requests: 40 * DAY, webhooks: 20 * DAY });
    expect(await count()).toEqual({ responses: 0, requests: 1, events: 1, log: 0 });
    expect(await follow()).toEqual({ responses: 0, requests: 1, events: 1, log: 0 });
    expect(await fixture.read((tx) => tx.requests.byToken(due.token))).toBeNull();
    expect(await fixture.read((tx) => tx.queue.listErased(9))).toHaveLength(1);
    expect(await metrics({ groups: new Set(["core", "email"]) })).toMatchObject({ email_sent_count: 0, nps: 100 });
    expect(await fixture.read((tx) => tx.deliveries.counts())).toEqual([
      { project: project.id, state: "scheduled", count: 1 },
    ]);
    expect(await fixture.store.check()).toEqual([]);
    expect([await count(), await follow()]).toEqual([NOTHING, NOTHING]);
  });
});

it("when events are old in one project, then those of another stay, though they are numbered alike", async () => {
  const other = await fixture.write((tx) => addProject(tx, "other"));
  for (const { id } of [fixture.project, other])
    await fixture.write((tx) =>
      tx.webhooks.add(id, { eventId: "e", type: "unsubscribe.created", personId: 1, json: "{}", slack: null }, []),
    );
  fixture.time.now += 3 * DAY;
  await set({ webhooks: DAY });
  const left = (project: Project) =>
    fixture.read(async (tx) =>
      countExpired(tx, project, { ...(await readRetention(tx, fixture.project)), mode: "delete" }),
    );
  expect(await follow()).toEqual({ ...NOTHING, events: 1 });
  expect([await left(fixture.project), await left(other)]).toEqual([NOTHING, { ...NOTHING, events: 1 }]);
});

it("an age stays until it is changed or removed", async () => {
  const kept = { responses: null, mode: "anonymize", requests: null, webhooks: null, log: 400 * DAY };
  expect(await set({ requests: 9 * DAY })).toEqual({ ...kept, requests: 9 * DAY });
  expect(await set({ requests: null })).toEqual(kept);
});

const NOTHING = { responses: 0, requests: 0, events: 0, log: 0 };
