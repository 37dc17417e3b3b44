import { afterEach, beforeEach, expect, test } from "vitest";
import type { ResponsesQuery } from "../../../../src/service/domain/inputs.ts";
import { deletePerson, sendPerson } from "../../../../src/service/domain/people/people.ts";
import { addResponse, getResponse, updateResponse } from "../../../../src/service/domain/answers/responses.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { addTrend, removeTrend } from "../../../../src/service/domain/answers/trends.ts";
import { getMetrics } from "../../../../src/service/domain/answers/metrics.ts";
import {
  START,
  links,
  metricsQuery,
  openFixture,
  peopleQuery,
  responseInput,
  responsesQuery,
  sendInput,
  type Fixture,
} from "../fixture.ts";
import { listPeople, listResponses } from "../lists.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
  for (const email of ["a@x.co", "b@x.co"]) {
    await fixture.write((tx) =>
      sendPerson(tx, fixture.project, sendInput({ email, send: false, name: email.slice(0, 1) })),
    );
  }
});
afterEach(() => fixture.store.close());

const add = (given: Parameters<typeof responseInput>[0]) =>
  fixture.write((tx) => addResponse(tx, fixture.project, responseInput(given), links));
const list = (given: Partial<ResponsesQuery> = {}) =>
  fixture.read((tx) => listResponses(tx, fixture.project, responsesQuery(given), links));
const ids = async (given: Partial<ResponsesQuery> = {}) => (await list(given)).map(({ id }) => id);
const plain = new Set<never>();

test("when a response is added, then it is answered whole and found as it was answered", async () => {
  fixture.time.now = START + 5;
  const added = await add({
    personId: "1",
    score: 0,
    comment: 'a "quote" \\ \u2028 é 😀\n',
    personProperties: { plan: "pro", nested: { a: [1, null] } },
    createdAt: START - 100,
  });
  expect(added).toEqual({
    id: "3",
    person: "1",
    survey_type: "nps",
    score: 0,
    comment: 'a "quote" \\ \u2028 é 😀\n',
    permalink: expect.stringMatching(/^https:\/\/surveys\.example\/r\/[\w-]{22}$/),
    created_at: START - 100,
    updated_at: START + 5,
    person_properties: { plan: "pro", nested: { a: [1, null] } },
    notes: [],
    tags: [],
    additional_answers: [],
  });
  expect(await list()).toEqual([added]);
  expect(await fixture.read((tx) => getResponse(tx, fixture.project, "3", plain, links))).toEqual(added);
  const { rows } = await fixture.read((tx) => listPeople(tx, fixture.project, peopleQuery({ email: "a@x.co" })));
  expect(rows[0]?.last_responded_at).toBe(START - 100);
});

test.each([
  ["somebody unknown", { personId: "99" }, { person: ["does not exist"] }],
  ["no id at all", { personId: "a@x.co" }, { person: ["does not exist"] }],
  ["a score of 11", { personId: "1", score: 11 }, { score: ["must be an integer from 0 to 10"] }],
  ["half a point", { personId: "1", score: 0.5 }, { score: ["must be an integer from 0 to 10"] }],
])("when a response is of %s, then it is refused", async (_, given, errors) => {
  await expect(add(given)).rejects.toMatchObject({ name: "InvalidError", errors });
  expect(await list()).toEqual([]);
});

const shown = async (...expand: ("person" | "notes")[]) => {
  const [response] = await list({ expand: new Set(expand) });
  return [response?.person, response?.notes];
};

test("when the person is expanded, then they are shown whole; notes are objects only when asked for", async () => {
  const { id } = await add({ personId: "1" });
  const noteId = await fixture.write((tx) =>
    tx.responses.addNote(fixture.project.id, Number(id), {
      text: 'call "him"',
      userEmail: "me@x.co",
      createdAt: START,
    }),
  );
  const person = { id: "1", email: "a@x.co", name: "a", created_at: START, phone_number: null };
  const note = { id: noteId, text: 'call "him"', user_email: "me@x.co", created_at: START };
  expect(await shown()).toEqual(["1", [noteId]]);
  expect(await shown("person")).toEqual([person, [noteId]]);
  expect(await shown("notes")).toEqual(["1", [note]]);
  expect(await shown("person", "notes")).toEqual([person, [note]]);
});

test("when an order is asked for, then ties are broken by id in the same direction", async () => {
  // id at created_at: 3 at 10, 4 at 20, 5 at 10; 3 is edited last
  for (const createdAt of [10, 20, 10]) await add({ personId: "1", createdAt });
  fixture.time.now = START + 50;
  await fixture.write((tx) => updateResponse(tx, fixture.project, "3", { comment: "edited" }, plain, links));
  expect(await ids({ order: "asc" })).toEqual(["3", "5", "4"]);
  expect(await ids({ order: "desc" })).toEqual(["4", "5", "3"]);
  expect(await ids({ order: "asc:updated_at" })).toEqual(["4", "5", "3"]);
  expect(await ids({ order: "desc:updated_at" })).toEqual(["3", "5", "4"]);
});

test.each<[Partial<ResponsesQuery>, string[]]>([
  [{ since: 20 }, ["4", "5"]],
  [{ until: 20 }, ["3", "4"]],
  [{ since: 20, until: 20 }, ["4"]],
  [{ updatedSince: START + 1 }, ["4", "5"]],
  [{ updatedUntil: START + 1 }, ["3", "4"]],
  [{ since: 20, updatedUntil: START + 1 }, ["4"]],
  [{ personId: "2" }, ["4"]],
  [{ personId: "77" }, []],
  [{ personId: "x" }, []],
  [{ personEmail: "B@X.co" }, ["4"]],
  [{ personEmail: "nobody@x.co" }, []],
  [{ personEmail: "a@x.co", personId: "2" }, []],
  [{ page: 2, perPage: 2 }, ["5"]],
  [{ page: 3, perPage: 2 }, []],
  [{ order: "desc", page: 2, perPage: 1 }, ["4"]],
])("when %j is asked for, then %j are listed", async (given, expected) => {
  for (const [index, personId] of ["1", "2", "1"].entries()) {
    fixture.time.now = START + index;
    await add({ personId, createdAt: 10 + 10 * index });
  }
  expect(await ids(given)).toEqual(expected);
});

test("when a response is changed, then updated_at moves; when nothing differs, then it stays", async () => {
  const added = await add({ personId: "1", score: 3, comment: "so so", personProperties: { a: 1 } });
  fixture.time.now = START + 9;
  const change = (given: Parameters<typeof updateResponse>[3]) =>
    fixture.write((tx) => updateResponse(tx, fixture.project, added.id, given, plain, links));
  expect(await change({ score: 3, comment: "so so", personProperties: { a: 1 }, personId: "1" })).toEqual(added);
  expect(await change({ comment: null, score: 10, personId: "2" })).toEqual({
    ...added,
    comment: null,
    score: 10,
    person: "2",
    updated_at: START + 9,
  });
  const { rows } = await fixture.read((tx) => listPeople(tx, fixture.project, peopleQuery()));
  expect(rows.map((person) => person.last_responded_at)).toEqual([null, START]);
  await expect(change({ personId: "99" })).rejects.toMatchObject({ errors: { person: ["does not exist"] } });
  await expect(change({ score: -1 })).rejects.toMatchObject({ errors: { score: ["must be an integer from 0 to 10"] } });
});

test("when a response is not this project's, then it is not there", async () => {
  const other = await fixture.write((tx) => addProject(tx, "other"));
  const { id } = await add({ personId: "1" });
  await expect(fixture.read((tx) => getResponse(tx, other, id, plain, links))).rejects.toMatchObject({
    name: "NotFoundError",
  });
  await expect(fixture.write((tx) => updateResponse(tx, other, id, { score: 1 }, plain, links))).rejects.toMatchObject({
    name: "NotFoundError",
  });
  await expect(fixture.read((tx) => getResponse(tx, fixture.project, "abc", plain, links))).rejects.toMatchObject({
    name: "NotFoundError",
  });
  expect(await fixture.read((tx) => listResponses(tx, other, responsesQuery(), links))).toEqual([]);
});

test("when a trend is made, then it holds old, new and changed responses whose properties all fit", async () => {
  const counts = async (trend: string) =>
    (await fixture.read((tx) => getMetrics(tx, fixture.project, metricsQuery({ trend })))).response_count;
  await add({ personId: "1", personProperties: { plan: "pro", seats: 5, "a.b": "x" } });
  await add({ personId: "1", personProperties: { plan: "pro", seats: "5" } });
  const trend = await fixture.write((tx) => addTrend(tx, fixture.project, "pros", { plan: "pro", seats: "5" }));
  const dotted = await fixture.write((tx) => addTrend(tx, fixture.project, "dotted", { "a.b": "x" }));
  await add({ personId: "2", personProperties: { plan: "pro", seats: 6 } });
  await add({ personId: "2", personProperties: { plan: "pro", seats: 5, vip: true } });
  expect(await ids({ trend: String(trend.id) })).toEqual(["3", "4", "8"]);
  expect(await ids({ trend: String(trend.id), order: "desc", page: 2, perPage: 2 })).toEqual(["3"]);
  expect(await ids({ trend: String(trend.id), personId: "2" })).toEqual(["8"]);
  expect(await ids({ trend: String(dotted.id) })).toEqual(["3"]);
  await fixture.write((tx) =>
    updateResponse(tx, fixture.project, "7", { personProperties: { plan: "pro", seats: 5 } }, plain, links),
  );
  await fixture.write((tx) => updateResponse(tx, fixture.project, "3", { personProperties: {} }, plain, links));
  expect(await ids({ trend: String(trend.id) })).toEqual(["4", "7", "8"]);
  expect(await counts(String(trend.id))).toBe(3);
  await fixture.write((tx) => deletePerson(tx, fixture.project, { by: "id", id: "1" }));
  expect(await counts(String(trend.id))).toBe(2);
});

test("when a trend is unknown or removed, then naming it is refused", async () => {
  const trend = await fixture.write((tx) => addTrend(tx, fixture.project, "vip", { vip: "true" }));
  expect(await fixture.read((tx) => tx.trends.list(fixture.project.id))).toEqual([
    { id: trend.id, name: "vip", where: { vip: "true" }, createdAt: START },
  ]);
  await add({ personId: "1", personProperties: { vip: true } });
  expect(await ids({ trend: String(trend.id) })).toHaveLength(1);
  await fixture.write((tx) => removeTrend(tx, fixture.project, String(trend.id)));
  await expect(fixture.write((tx) => removeTrend(tx, fixture.project, String(trend.id)))).rejects.toThrow(
    "has no trend",
  );
  await expect(list({ trend: String(trend.id) })).rejects.toMatchObject({ errors: { trend: ["does not exist"] } });
  await expect(
    fixture.read((tx) => getMetrics(tx, fixture.project, metricsQuery({ trend: "x" }))),
  ).rejects.toMatchObject({
    errors: { trend: ["does not exist"] },
  });
});
