import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { addDigest } from "../../../../src/service/domain/delivery/digests.ts";
import { deletePerson, sendPerson } from "../../../../src/service/domain/people/people.ts";
import { recordBounce, unsubscribe } from "../../../../src/service/domain/people/suppressions.ts";
import { applyErasureLog, erasePerson, type ErasureOptions } from "../../../../src/service/domain/privacy/erase.ts";
import { readErasureLog } from "../../../../src/service/domain/privacy/erasure-log.ts";
import type { Transaction } from "../../../../src/service/domain/ports.ts";
import { DAY, type Fixture, openFixture, sendInput, START } from "../fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.store.close());

const email = "ada@example.com";
const NO_OPTIONS: ErasureOptions = { forgetUnsubscribe: false, mentions: [] };
const erase = (options: Partial<ErasureOptions> = {}) =>
  fixture.write((tx) => erasePerson(tx, fixture.project, { by: "email", email }, { ...NO_OPTIONS, ...options }));
const add = ({ store, project }: Fixture, address = email) =>
  store.write((tx) => sendPerson(tx, project, sendInput({ email: address, send: false })), { project: "all" });
const sendAgain = async (address = email) =>
  (await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: address })))).person
    .survey_scheduled_at;

const leave = (tx: Transaction) => unsubscribe(tx, fixture.project, email);
const bounce = async (tx: Transaction) => {
  const ada = await tx.people.byEmail(fixture.project.id, email);
  await recordBounce(tx, fixture.project, ada?.id ?? 0);
};

describe("when an erased person is added again", () => {
  test.each<[string, (tx: Transaction) => Promise<unknown>, Partial<ErasureOptions>, number, number | null]>([
    ["had not left, then they are sent surveys", () => Promise.resolve(), {}, 0, START],
    ["had left, then they are not", leave, {}, 1, null],
    ["had left and that was forgotten, then they are", leave, { forgetUnsubscribe: true }, 0, START],
    ["had bounced, then they are not", bounce, {}, 1, null],
    ["had bounced, then forgetting who left changes nothing", bounce, { forgetUnsubscribe: true }, 1, null],
  ])("and %s", async (_, happened, options, suppressions, scheduledAt) => {
    await add(fixture);
    await fixture.write(happened);
    expect(await erase(options)).toMatchObject({ people: 1, suppressions });
    expect(await sendAgain(email.toUpperCase())).toBe(scheduledAt);
  });

  it("and had left before they were deleted, then it can still be forgotten", async () => {
    await add(fixture);
    await fixture.write(leave);
    await fixture.write((tx) => deletePerson(tx, fixture.project, { by: "email", email }));
    expect(await erase({ forgetUnsubscribe: true })).toMatchObject({ people: 0, suppressions: 0 });
    expect(await sendAgain()).toBe(START);
  });
});

describe("when the log of erasures is applied to a copy", () => {
  it("then whoever was erased is gone from it, and whoever came later stays", async () => {
    const copy = await openFixture();
    for (const each of [fixture, copy]) for (const address of [email, "bob@example.com"]) await add(each, address);
    fixture.time.now += DAY;
    await erase();
    const log = await fixture.read(readErasureLog);
    expect(log.projects).toEqual([
      { name: "default", entries: [{ hash: expect.any(String) as string, at: START + DAY }, expect.anything()] },
    ]);
    expect(await applyErasureLog(copy.store, log)).toBe(1);
    const left = async () => copy.read(async (tx) => (await tx.projects.counts(copy.project.id)).people);
    expect(await left()).toBe(1);
    copy.time.now += 2 * DAY;
    await add(copy);
    expect(await applyErasureLog(copy.store, log)).toBe(0);
    expect(await left()).toBe(2);
    // The restored copy stores the same hashes.
    const taken = await copy.read(readErasureLog);
    expect([taken.secret, taken.projects[0]?.entries.map(({ hash }) => hash)]).toEqual([
      log.secret,
      log.projects[0]?.entries.map(({ hash }) => hash),
    ]);
    await copy.store.close();
  });
});

test("when somebody is added again in the second of their erasure, then its log does not erase them", async () => {
  await add(fixture);
  await erase();
  await add(fixture);
  expect(await applyErasureLog(fixture.store, await fixture.read(readErasureLog))).toBe(0);
  expect(await fixture.read((tx) => tx.people.byEmail(fixture.project.id, email))).toMatchObject({ email });
});

/** Digest recipients don't have to be people in the project. */
const addDigests = async ({ store, project }: Fixture): Promise<void> => {
  for (const address of [email.toUpperCase(), "bob@example.com"])
    await store.write((tx) => addDigest(tx, project, address, { weekday: 1, minute: 480, zone: null }), {
      project: "all",
    });
};
const digestsOf = async ({ store }: Fixture): Promise<readonly string[]> =>
  (await store.read((tx) => tx.digests.list(1))).map((digest) => digest.email);

test("when an address is erased, then its digest goes, from a copy too, and that of one who came later stays", async () => {
  const copy = await openFixture();
  for (const each of [fixture, copy]) await addDigests(each);
  fixture.time.now += DAY;
  await erase();
  await applyErasureLog(copy.store, await fixture.read(readErasureLog));
  expect([await digestsOf(fixture), await digestsOf(copy)]).toEqual([["bob@example.com"], ["bob@example.com"]]);
  copy.time.now += 2 * DAY;
  await addDigests(copy);
  await applyErasureLog(copy.store, await fixture.read(readErasureLog));
  expect(await digestsOf(copy)).toEqual(["bob@example.com", email.toUpperCase()]);
  await copy.store.close();
});
