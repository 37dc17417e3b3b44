import { UNKNOWN_PERSON } from "../../../src/service/domain/people/person-rows.ts";
import { storePastResponses } from "../../../src/service/domain/answers/response-changes.ts";
import { describe, expect, test } from "vitest";
import { addResponse } from "../../../src/service/domain/answers/responses.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import { readLead, takeClockBack } from "../../../src/service/domain/write-time.ts";
import {
  START,
  links,
  openFixture,
  peopleQuery,
  responseInput,
  responsesQuery,
  sendInput,
  type Fixture,
} from "../domain/fixture.ts";
import { newDataFile, STORES } from "./engines.ts";
import { listPeople, listResponses } from "../domain/lists.ts";

const save = (fixture: Fixture, email: string) =>
  fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email, send: false })));
const emails = async (fixture: Fixture) =>
  (await fixture.read((tx) => listPeople(tx, fixture.project, peopleQuery({ perPage: 100 })))).rows.map(
    ({ email }) => email,
  );

const YEAR = 365 * 86_400;

const timesAt = async (fixture: Fixture, now: number): Promise<number[]> => {
  fixture.time.now = now;
  return fixture.write(async (tx) => {
    const { person } = await sendPerson(tx, fixture.project, sendInput({ email: `p${now}@x.co`, send: false }));
    const row = await tx.people.byId(fixture.project.id, Number(person.id));
    return [row?.createdAt ?? 0, tx.updatedAt];
  });
};

describe.each(STORES)("%s", (engine) => {
  const withStore = async (work: (fixture: Fixture) => Promise<void>): Promise<void> => {
    const fixture = await openFixture({ engine });
    try {
      await work(fixture);
    } finally {
      await fixture.store.close();
    }
  };

  test("when writes fail among others, then they alone are undone and each gets its own answer", () =>
    withStore(async (fixture) => {
      const half = fixture.write(async (tx) => {
        await sendPerson(tx, fixture.project, sendInput({ email: "half@x.co", send: false }));
        throw new Error("no");
      });
      const twin = { email: "A@x.co", name: null, phoneNumber: null, createdAt: 1, lastSentAt: null };
      const first = save(fixture, "a@x.co");
      const taken = fixture.write((tx) => tx.people.insert(fixture.project.id, twin));
      const settled = await Promise.allSettled([first, half, taken, save(fixture, "b@x.co")]);
      expect(settled.map((one) => (one.status === "rejected" ? String(one.reason) : "done"))).toEqual([
        "done",
        "Error: no",
        expect.stringMatching(/^UniqueViolation: not unique: .*email_key/),
        "done",
      ]);
      expect(await emails(fixture)).toEqual(["a@x.co", "b@x.co"]);
      expect(await fixture.store.check()).toEqual([]);
    }));

  test("when jobs overlap, then none sees what another has not committed, and each has one time", () =>
    withStore(async (fixture) => {
      const begun = { tell: (): void => undefined };
      const hasBegun = new Promise<void>((resolve) => {
        begun.tell = resolve;
      });
      const writing = fixture.write(async (tx) => {
        await sendPerson(tx, fixture.project, sendInput({ email: "a@x.co", send: false }));
        fixture.time.now = START + 100;
        begun.tell();
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
        throw new Error(`no at ${tx.now}`);
      });
      const refused = writing.catch((error: unknown) => String(error));
      await hasBegun;
      const reading = fixture.read(async (tx) => [tx.now, await tx.people.byEmail(fixture.project.id, "a@x.co")]);
      expect(await reading).toEqual([START + 100, null]);
      expect(await refused).toBe(`Error: no at ${START}`);
    }));

  test("a clock that is set back moves what waits and new rows at once, and `updated_at` not before the newest write", async () => {
    const file = newDataFile();
    const first = await openFixture({ file, engine });
    expect(await timesAt(first, START + 50)).toEqual([START + 50, START + 50]);
    expect(await timesAt(first, START)).toEqual([START, START + 50]);
    expect(await first.read(async (tx) => tx.now)).toBe(START);
    await first.store.close();
    const second = await openFixture({ file, engine });
    expect(await timesAt(second, START + 49)).toEqual([START + 49, START + 50]);
    expect(await timesAt(second, START + 51)).toEqual([START + 51, START + 51]);
    await second.store.close();
  });

  test("`updated_at` is at most five minutes ahead of the clock, however far ahead a write was", () =>
    withStore(async (fixture) => {
      await timesAt(fixture, START + 10 * YEAR);
      expect(await timesAt(fixture, START)).toEqual([START, START + 300]);
      expect(await timesAt(fixture, START + 1)).toEqual([START + 1, START + 301]);
      expect(await fixture.read(readLead)).toBe(10 * YEAR - 1);
      await fixture.write(takeClockBack);
      expect(await fixture.read(readLead)).toBe(0);
      expect(await timesAt(fixture, START + 2)).toEqual([START + 2, START + 301]);
      expect(await timesAt(fixture, START + 302)).toEqual([START + 302, START + 302]);
    }));

  test("when a read tries to change something, then it is refused", () =>
    withStore(async (fixture) => {
      const reading = fixture.read((tx) => sendPerson(tx, fixture.project, sendInput({ email: "a@x.co" })));
      await expect(reading).rejects.toThrow("only inside Store.write");
      expect(await emails(fixture)).toEqual([]);
    }));

  test.each(["é 😀 \u202e \u2028 \u0001 '\"\\ --", "'; DROP TABLE people; --", " ", "null", "x".repeat(100_000)])(
    "when text is %j, then it comes back as it was",
    (text) =>
      withStore(async (fixture) => {
        await save(fixture, "a@x.co");
        const personProperties = { [text]: text, nested: { list: [text, 1.5, true, null, 2 ** 53] } };
        const input = responseInput({ personId: "1", comment: text, personProperties });
        const added = await fixture.write((tx) => addResponse(tx, fixture.project, input, links));
        expect([added.comment, added.person_properties]).toEqual([text, personProperties]);
        expect(await fixture.read((tx) => listResponses(tx, fixture.project, responsesQuery(), links))).toEqual([
          added,
        ]);
      }),
  );

  test("when text holds a null character, then it is refused and not cut short", () =>
    withStore(async (fixture) => {
      await save(fixture, "a@x.co");
      const input = responseInput({ personId: "1", comment: "a\0b" });
      await expect(fixture.write((tx) => addResponse(tx, fixture.project, input, links))).rejects.toThrow(
        "null character",
      );
      const properties = responseInput({ personId: "1", personProperties: { a: "b\0c" } });
      const added = await fixture.write((tx) => addResponse(tx, fixture.project, properties, links));
      expect(added.person_properties).toEqual({ a: "b\0c" });
    }));

  test("when rows of another service are taken over, then ids and times stay and later ids are higher", () =>
    withStore(async (fixture) => {
      const project = fixture.project.id;
      const person = { ...UNKNOWN_PERSON, id: 500, email: "old@x.co", createdAt: 1000 };
      const lists = { tags: '["vip"]', additionalAnswers: '[{"id":"1"}]', notes: "[]", noteIds: "[]" };
      const response = {
        id: 900,
        personId: 500,
        surveyType: "nps",
        score: 3,
        comment: null,
        properties: "{}",
        ...lists,
      };
      await fixture.write(async (tx) => {
        await tx.history.reserve(project, 900);
        await tx.history.insertPeople(project, [person]);
        await storePastResponses(tx, project, [{ ...response, createdAt: 2000, updatedAt: 3000 }]);
      });
      const [row] = await fixture.read((tx) => listResponses(tx, fixture.project, responsesQuery(), links));
      expect(row).toMatchObject({
        id: "900",
        person: "500",
        created_at: 2000,
        updated_at: 3000,
        tags: ["vip"],
        additional_answers: [{ id: "1" }],
      });
      expect((await save(fixture, "new@x.co")).person.id).toBe("901");
    }));

  test("when things are counted, then each is", () =>
    withStore(async (fixture) => {
      await fixture.write((tx) => sendPerson(tx, fixture.project, sendInput({ email: "a@x.co" })));
      await save(fixture, "b@x.co");
      await fixture.write((tx) => addResponse(tx, fixture.project, responseInput({ personId: "1" }), links));
      const counts = await fixture.read((tx) => tx.projects.counts(fixture.project.id));
      expect(counts).toEqual({ people: 2, responses: 1 });
    }));
});
