import { claimSome, settleClaim } from "../../../../src/service/domain/delivery/claims.ts";
import { removePerson } from "../../../../src/service/domain/people/person-removal.ts";
import { expect, test } from "vitest";
import { finishDelivery } from "../../../../src/service/domain/delivery/deliveries.ts";
import type { Transaction } from "../../../../src/service/domain/ports.ts";
import { claimAll, DAY, openFixture, sendInput, START } from "../../domain/fixture.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";

const WEBHOOK = {
  url: "http://127.0.0.1:9/",
  secret: "s",
  signatureHeader: "x-signature",
  allowPrivate: true,
  insecureHttp: true,
  events: ["survey_response.created"],
  scores: null,
  format: "json",
} as const;
const DIGEST = { email: "boss@x.co", token: "d", weekday: 1, minute: 0, zone: null, allowPrivate: false } as const;

test("rows that go with others are counted out", async () => {
  const fixture = await openFixture();
  const { project, store, time } = fixture;
  const people: number[] = [];
  for (const email of ["a@x.co", "b@x.co", "c@x.co"])
    people.push(Number((await fixture.write((tx) => sendPerson(tx, project, sendInput({ email })))).person.id));
  const [first = 0, second = 0] = people;
  const due = await fixture.write(claimAll);
  for (const survey of due) await fixture.write((tx) => finishDelivery(tx, survey, { kind: "sent" }));
  await fixture.write(async (tx) => {
    for (const { requestId } of due) {
      await tx.queue.addReminder(project.id, { surveyId: requestId, queue: "reminder", scheduledAt: time.now });
      const survey = { project, requestId, personId: first, token: "t", from: null };
      await tx.texts.addReply(survey, { kind: "thanks", score: 9 });
    }
  });
  const claim = { project: project.id, claimer: "one", leaseSeconds: 60, limit: 9, channel: "reminder" } as const;
  for (const reminder of await fixture.write((tx) => claimSome(tx, claim))) {
    const change = { state: "sent", dueAt: null, sentAt: time.now, reason: null, isAttempt: true } as const;
    await fixture.write((tx) => settleClaim(tx, reminder, change));
  }
  const digest = await fixture.write((tx) => tx.digests.insert(project.id, DIGEST));
  const webhooks = await fixture.write(async (tx) => {
    const ids = [await tx.webhooks.insert(project.id, WEBHOOK), await tx.webhooks.insert(project.id, WEBHOOK)];
    const event = { type: "survey_response.created", json: "{}", slack: null } as const;
    for (const personId of people)
      await tx.webhooks.add(
        project.id,
        { ...event, eventId: `e${personId}`, personId },
        ids.map(({ id }) => id),
      );
    await tx.digests.addWeek(project.id, digest, { dueAt: time.now, before: 0 });
    return ids.map(({ id }) => id);
  });
  expect(await store.check()).toEqual([]);
  const changes: readonly ((tx: Transaction) => Promise<unknown>)[] = [
    // Deleting surveys also deletes reminders and replies; deleting events also deletes deliveries.
    (tx) => removePerson(tx, project.id, first),
    (tx) => tx.webhooks.delete(project.id, webhooks[0] ?? 0),
    (tx) => tx.webhooks.prune(project.id, START - DAY, 100),
    (tx) => tx.webhooks.redeliver(project.id, webhooks[1] ?? 0, { which: "failed" }, { after: 0, limit: 9 }),
    (tx) => tx.webhooks.prune(project.id, START + DAY, 1),
    (tx) => tx.retention.events(project.id, START + DAY, 100),
    (tx) => tx.retention.requests(project.id, START + DAY, 1),
    (tx) => tx.texts.prune({ parts: 0, replies: START + DAY }, 100),
    (tx) => tx.digests.addWeek(project.id, digest, { dueAt: time.now, before: START + DAY }),
    (tx) => tx.digests.delete(project.id, digest),
    (tx) => removePerson(tx, project.id, second),
  ];
  for (const change of changes) {
    await fixture.write(change);
    expect(await store.check()).toEqual([]);
  }
  expect((await fixture.read((tx) => tx.deliveries.counts())).map(({ count }) => count)).toEqual([1]);
  expect(await fixture.read((tx) => tx.webhooks.counts(project.id, webhooks[1] ?? 0))).toMatchObject({ waiting: 0 });
  await store.close();
});

test("a job that counts what was changed before it, and is undone, leaves the counts of the others", async () => {
  const fixture = await openFixture();
  const { project, store } = fixture;
  const nobody = { email: null, name: null, phoneNumber: null, createdAt: START, lastSentAt: null };
  const add = (then: (tx: Transaction) => Promise<unknown>) =>
    fixture.write(async (tx) => {
      await tx.people.insert(project.id, nobody);
      return then(tx);
    });
  const count = async (tx: Transaction): Promise<number> => (await tx.projects.counts(project.id)).people;
  const fail = async (tx: Transaction): Promise<never> => {
    throw new Error(`undone at ${await count(tx)}`);
  };
  const ends = await Promise.allSettled([
    add(count),
    add(fail),
    fixture.write(fail),
    add(count),
    add(fail),
    add(count),
  ]);
  expect(ends.map((end) => (end.status === "fulfilled" ? end.value : (end.reason as Error).message))).toEqual([
    1,
    "undone at 2",
    "undone at 1",
    2,
    "undone at 3",
    3,
  ]);
  expect(await fixture.read(count)).toBe(3);
  expect(await store.check()).toEqual([]);
  await store.close();
});
