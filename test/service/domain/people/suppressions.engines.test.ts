/** A suppression belongs to an address and a channel, and outlives the person. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { addMember } from "../../../../src/service/domain/surveys/autopilot/autopilot.ts";
import { recordBounce, unsubscribe } from "../../../../src/service/domain/people/suppressions.ts";
import type { SendInput } from "../../../../src/service/domain/inputs.ts";
import { deletePerson, sendPerson } from "../../../../src/service/domain/people/people.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import { onPostgres } from "../../../helpers/postgres.ts";
import { START, eventsQuery, memberInput, openFixture, sendInput, type Fixture } from "../fixture.ts";
import { listBounces, listUnsubscribes } from "../lists.ts";
import { claimDue } from "../claim-due.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.store.close());

const send = async (given: Partial<SendInput>) =>
  (await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput(given)))).person.survey_scheduled_at;
const rename = (email: string, emailUpdate: string) => send({ email, emailUpdate, send: false });
const remove = (email: string) => fixture.write((tx) => deletePerson(tx, fixture.project, { by: "email", email }));
const leave = (email: string) => fixture.write((tx) => unsubscribe(tx, fixture.project, email));
const bounce = (id: number) => fixture.write((tx) => recordBounce(tx, fixture.project, id));
const suppressed = async () => ({
  unsubscribed: (await fixture.read((tx) => listUnsubscribes(tx, fixture.project, eventsQuery()))).map(
    (row) => `${row.email} ${row.unsubscribed_at - START}`,
  ),
  bounced: (await fixture.read((tx) => listBounces(tx, fixture.project, eventsQuery()))).map(
    (row) => `${row.email} ${row.bounced_at - START}`,
  ),
});

describe("when the person is deleted and added again", () => {
  test("after an unsubscribe, then nothing is mailed and the list shows the first time", async () => {
    await send({ email: "a@x.co", send: false });
    await leave("A@x.co");
    await remove("a@x.co");
    fixture.time.now = START + 9;
    expect(await send({ email: "A@X.co" })).toBeNull();
    expect(await suppressed()).toEqual({ unsubscribed: ["A@X.co 0"], bounced: [] });
  });

  test("after a bounce, then nothing is mailed", async () => {
    await send({ email: "a@x.co", send: false });
    await bounce(1);
    await remove("a@x.co");
    fixture.time.now = START + 9;
    expect(await send({ email: "a@x.co" })).toBeNull();
    expect(await suppressed()).toEqual({ unsubscribed: [], bounced: ["a@x.co 0"] });
  });

  test("to Autopilot, then they are a member without a next survey", async () => {
    await send({ email: "a@x.co", send: false });
    await leave("a@x.co");
    await remove("a@x.co");
    await fixture.write((tx) => addMember(tx, fixture.project, memberInput({ personEmail: "a@x.co" })));
    expect(
      await fixture.write((tx) => claimDue(tx, { claimer: "one", channel: "email", leaseSeconds: 60, limit: 9 })),
    ).toEqual([]);
  });
});

describe("when the address changes", () => {
  test("after an unsubscribe, then neither the old nor the new one is mailed", async () => {
    await send({ email: "old@x.co", send: false });
    await leave("old@x.co");
    await rename("old@x.co", "new@x.co");
    expect([await send({ email: "old@x.co" }), await send({ email: "new@x.co" })]).toEqual([null, null]);
    await remove("new@x.co");
    expect(await send({ email: "new@x.co" })).toBeNull();
  });

  test("after a bounce, then the new one is mailed and the old one is not", async () => {
    await send({ email: "old@x.co", send: false });
    await bounce(1);
    await rename("old@x.co", "new@x.co");
    expect(await suppressed()).toEqual({ unsubscribed: [], bounced: [] });
    expect([await send({ email: "old@x.co" }), await send({ email: "new@x.co" })]).toEqual([null, START]);
  });

  test("to a suppressed one, then what waits to be mailed is dropped", async () => {
    await send({ email: "gone@x.co", send: false });
    await leave("gone@x.co");
    await remove("gone@x.co");
    expect(await send({ email: "a@x.co", delaySeconds: 60 })).toBe(START + 60);
    await rename("a@x.co", "gone@x.co");
    fixture.time.now = START + 60;
    expect(
      await fixture.write((tx) => claimDue(tx, { claimer: "one", channel: "email", leaseSeconds: 60, limit: 9 })),
    ).toEqual([]);
  });

  test("of a person without one to a suppressed one, then the person is unsubscribed", async () => {
    await send({ email: "gone@x.co", send: false });
    await leave("gone@x.co");
    await remove("gone@x.co");
    await send({ phoneNumber: "+14155550100", send: false });
    expect(await send({ email: "gone@x.co", phoneNumber: "+14155550100" })).toBeNull();
    expect(await suppressed()).toEqual({ unsubscribed: ["gone@x.co 0"], bounced: [] });
  });
});

test("when an address is suppressed in one project, then another project mails it", async () => {
  const other = await fixture.write((tx) => addProject(tx, "other"));
  await send({ email: "a@x.co", send: false });
  await leave("a@x.co");
  const { person } = await fixture.write((tx) => sendPerson(tx, other, sendInput({ email: "a@x.co" })));
  expect(person.survey_scheduled_at).toBe(START);
});

test.skipIf(onPostgres)(
  "when the person is gone, then the file does not hold the address, and opened again it still suppresses it",
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-suppression-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = path.join(folder, "survey.db");
    await fixture.store.close();
    fixture = await openFixture({ file });
    await send({ email: "somebody@example.com", send: false });
    await leave("somebody@example.com");
    await remove("somebody@example.com");
    await fixture.store.vacuum();
    await fixture.store.close();
    expect((await readFile(file)).includes("somebody")).toBe(false);
    fixture = await openFixture({ file });
    expect(await send({ email: "somebody@example.com" })).toBeNull();
  },
);
