import { afterEach, beforeEach, expect, test } from "vitest";
import { finishDelivery, releaseDeadClaims } from "../../../../src/service/domain/delivery/deliveries.ts";
import { nextDueAt } from "../next-due-at.ts";
import type { DueSurvey } from "../../../../src/service/domain/ports.ts";
import { recordBounce, unsubscribe } from "../../../../src/service/domain/people/suppressions.ts";
import { cancelSurveys, deletePerson, sendPerson } from "../../../../src/service/domain/people/people.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { START, eventsQuery, openFixture, peopleQuery, sendInput, type Fixture } from "../fixture.ts";
import { listBounces, listPeople, listUnsubscribes } from "../lists.ts";
import { Turns } from "../../../../src/service/domain/delivery/turns.ts";
import { claimDue } from "../claim-due.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.store.close());

const send = (email: string, delaySeconds = 0) =>
  fixture.write((tx) =>
    sendPerson(tx, fixture.project, sendInput({ email, delaySeconds, name: "N", properties: { plan: "pro" } })),
  );
const claim = (claimer = "one", limit = 10, turns = new Turns()) =>
  fixture.write((tx) => claimDue(tx, { claimer, channel: "email", leaseSeconds: 60, limit }, turns));
const finish = (due: DueSurvey | undefined, outcome: Parameters<typeof finishDelivery>[2]) =>
  fixture.write((tx) => finishDelivery(tx, due!, outcome));
const emails = (due: readonly DueSurvey[]) => due.map(({ person }) => person.email);
const nextAt = () => fixture.read((tx) => nextDueAt(tx));

test("when a survey is due, then one claim gets all that its message needs", async () => {
  await send("a@x.co");
  expect(await claim()).toEqual([
    {
      project: fixture.project,
      requestId: 2,
      channel: "email",
      autopilot: false,
      token: expect.stringMatching(/^[\w-]{22}$/),
      properties: { plan: "pro" },
      unsubscribeToken: expect.stringMatching(/^[\w-]{22}$/),
      scheduledAt: START,
      attempts: 0,
      firstAttemptAt: null,
      frozen: null,
      claimer: "one",
      claims: 1,
      person: { id: 1, email: "a@x.co", name: "N", phoneNumber: null },
    },
  ]);
  expect(await claim("two")).toEqual([]);
});

test("when several are due, then the earliest of a project come first, and none before its time", async () => {
  const other = await fixture.write((tx) => addProject(tx, "other"));
  await send("late@x.co", 20);
  await send("c@x.co", 10);
  await send("b@x.co", 9);
  await fixture.write((tx) => sendPerson(tx, other, sendInput({ email: "a@x.co", delaySeconds: 5 })));
  expect([await nextAt(), emails(await claim())]).toEqual([START + 5, []]);
  fixture.time.now = START + 10;
  expect(emails(await claim("one", 5))).toEqual(["b@x.co", "c@x.co", "a@x.co"]);
  expect(await nextAt()).toBe(START + 20);
});

test("when a project has a backlog, then another project's survey is in the next batch, and no room is wasted", async () => {
  const other = await fixture.write((tx) => addProject(tx, "other"));
  for (let n = 0; n < 9; n += 1) await send(`old${n}@x.co`);
  fixture.time.now = START + 60;
  await fixture.write((tx) => sendPerson(tx, other, sendInput({ email: "fresh@x.co" })));
  expect(emails(await claim("one", 4))).toEqual(["old0@x.co", "old1@x.co", "fresh@x.co", "old2@x.co"]);
});

test("when a batch is smaller than the number of projects, then the batches reach every project in turn", async () => {
  for (const name of ["b", "c"]) {
    const project = await fixture.write((tx) => addProject(tx, name));
    for (const n of [1, 2])
      await fixture.write((tx) => sendPerson(tx, project, sendInput({ email: `${name}${n}@x.co` })));
  }
  await send("a1@x.co");
  await send("a2@x.co");
  const batches: (string | null)[] = [];
  const turns = new Turns();
  for (let n = 0; n < 6; n += 1) batches.push(...emails(await claim("one", 1, turns)));
  expect(batches).toEqual(["a1@x.co", "b1@x.co", "c1@x.co", "a2@x.co", "b2@x.co", "c2@x.co"]);
});

test("when a claim dies, then its survey is found again, and the dead one's late answer counts for nothing", async () => {
  await send("a@x.co");
  const [dead] = await claim("dead");
  fixture.time.now = START + 59;
  expect(await claim()).toEqual([]);
  fixture.time.now = START + 60;
  const [living] = await claim();
  expect(living).toMatchObject({ attempts: 0, claimer: "one", claims: 2 });
  await finish(dead, { kind: "bounced" });
  expect(await fixture.read((tx) => listBounces(tx, fixture.project, eventsQuery()))).toEqual([]);
  await finish(living, { kind: "sent" });
  expect(await nextAt()).toBeNull();
});

test("when a process starts, then the claims of those before it are due at once, its own are not", async () => {
  await send("a@x.co");
  await send("b@x.co");
  await claim("dead", 1);
  await claim("living", 1);
  expect(await fixture.write((tx) => releaseDeadClaims(tx, ["living"]))).toBe(1);
  expect(emails(await claim())).toEqual(["a@x.co"]);
  expect(await fixture.write((tx) => releaseDeadClaims(tx))).toBe(2);
});

test("when a survey is sent, then the person's last time is now and nothing waits", async () => {
  await send("a@x.co");
  const [due] = await claim();
  fixture.time.now = START + 3;
  await finish(due, { kind: "sent" });
  const { rows } = await fixture.read((tx) => listPeople(tx, fixture.project, peopleQuery()));
  expect(rows[0]).toMatchObject({ last_sent_at: START + 3, next_survey_scheduled_at: null });
  expect(await claim()).toEqual([]);
});

test("when a survey is refused for now, then it is due again later", async () => {
  await send("a@x.co");
  const [due] = await claim();
  await finish(due, { kind: "retry", delaySeconds: 30 });
  expect([await nextAt(), await claim()]).toEqual([START + 30, []]);
  fixture.time.now = START + 30;
  expect(await claim()).toMatchObject([{ attempts: 1 }]);
});

test("when a survey is refused for good, then the person has bounced and nothing waits for them", async () => {
  await send("a@x.co");
  await finish((await claim())[0], { kind: "bounced" });
  expect(await fixture.read((tx) => listBounces(tx, fixture.project, eventsQuery()))).toEqual([
    { person_id: "1", email: "a@x.co", name: "N", bounced_at: START },
  ]);
  expect(await nextAt()).toBeNull();
});

test("when a person goes while their survey is on its way, then its end is nobody's", async () => {
  await send("a@x.co");
  const [due] = await claim();
  await fixture.write((tx) => deletePerson(tx, fixture.project, { by: "id", id: "1" }));
  await finish(due, { kind: "sent" });
  expect(await nextAt()).toBeNull();
});

test("when people unsubscribe, then they are listed once, oldest first, within inclusive bounds", async () => {
  for (const [index, email] of ["a@x.co", "b@x.co", "c@x.co"].entries()) {
    await send(email);
    fixture.time.now = START + index;
    expect(await fixture.write((tx) => unsubscribe(tx, fixture.project, email))).toEqual({ created: true });
  }
  expect(await fixture.write((tx) => unsubscribe(tx, fixture.project, "A@x.co"))).toEqual({ created: false });
  const listed = async (given: Parameters<typeof eventsQuery>[0] = {}) =>
    (await fixture.read((tx) => listUnsubscribes(tx, fixture.project, eventsQuery(given)))).map((row) => [
      row.email,
      row.unsubscribed_at,
    ]);
  expect(await listed()).toEqual([
    ["a@x.co", START],
    ["b@x.co", START + 1],
    ["c@x.co", START + 2],
  ]);
  expect(await listed({ since: START + 1, until: START + 1 })).toEqual([["b@x.co", START + 1]]);
  expect(await listed({ page: 2, perPage: 2 })).toEqual([["c@x.co", START + 2]]);
  expect(await listed({ page: 3, perPage: 2 })).toEqual([]);
  await expect(fixture.write((tx) => unsubscribe(tx, fixture.project, "no@x.co"))).rejects.toMatchObject({
    errors: { person_email: ["does not exist"] },
  });
});

test("when a person bounces twice, then the first time stands", async () => {
  await send("a@x.co");
  await fixture.write((tx) => recordBounce(tx, fixture.project, 1));
  fixture.time.now = START + 9;
  await fixture.write((tx) => recordBounce(tx, fixture.project, 1));
  expect(
    (await fixture.read((tx) => listBounces(tx, fixture.project, eventsQuery()))).map((row) => row.bounced_at),
  ).toEqual([START]);
});

const retry = { kind: "retry", delaySeconds: 15 } as const;
const cancel = () => fixture.write((tx) => cancelSurveys(tx, fixture.project, { by: "email", email: "a@x.co" }));
const remove = () => fixture.write((tx) => deletePerson(tx, fixture.project, { by: "email", email: "a@x.co" }));

test.each<[string, (due: () => Promise<DueSurvey | undefined>) => Promise<unknown>, number]>([
  ["cancelled before its first attempt", () => cancel(), 0],
  ["deleted with its person before its first attempt", () => remove(), 0],
  ["cancelled between two attempts", async (due) => [await finish(await due(), retry), await cancel()], 1],
  [
    "deleted with its person between two attempts",
    async (due) => [await finish(await due(), retry), await remove()],
    1,
  ],
  ["deleted with its person while it is sent", async (due) => [await due(), await remove()], 1],
  [
    "cancelled while it is sent, and fails",
    async (due) => {
      const claimed = await due();
      await cancel();
      return finish(claimed, retry);
    },
    1,
  ],
])("when a survey is %s, then its message is erased if there may be one", async (_, work, count) => {
  await send("a@x.co");
  await work(async () => (await claim())[0]);
  expect(await fixture.read((tx) => tx.queue.listErased(9))).toHaveLength(count);
});
