import { storeResponse } from "../../../../src/service/domain/answers/response-changes.ts";
import { removePerson } from "../../../../src/service/domain/people/person-removal.ts";
import { array, assert, asyncProperty, constantFrom, integer, nat, record, tuple } from "fast-check";
import { describe, expect, test } from "vitest";
import { RESPONSE_ORDERS, type ResponseOrder } from "../../../../src/contract/routes.ts";
import type { SurveyResponse } from "../../../../src/contract/resources.ts";
import type { Transaction } from "../../../../src/service/domain/ports.ts";
import {
  eventsQuery,
  links,
  membersQuery,
  openFixture,
  peopleQuery,
  responsesQuery,
  type Fixture,
} from "../../domain/fixture.ts";
import { STORES } from "../../store/engines.ts";
import { listBounces, listMembers, listPeople, listResponses, listUnsubscribes } from "../../domain/lists.ts";
import { isLong } from "../../../helpers/long.ts";
import { onPostgres } from "../../../helpers/postgres.ts";

// Few distinct times, so that many rows tie and only the id orders them.
const times = array(nat(5), { maxLength: 30 });
const perPage = integer({ min: 1, max: 9 });
const SHORT_RUNS = onPostgres ? 2 : 8;
const RUNS = { numRuns: isLong ? 25 : SHORT_RUNS };

async function insertPerson(tx: Transaction, project: number, createdAt: number): Promise<number> {
  const { id } = await tx.people.insert(project, {
    email: null,
    name: null,
    phoneNumber: null,
    createdAt,
    lastSentAt: null,
  });
  return id;
}

async function insertResponse(
  tx: Transaction,
  project: number,
  [createdAt, updatedAt]: readonly [number, number],
): Promise<void> {
  const text = { score: createdAt % 11, comment: null, personProperties: {}, token: tx.token(), requestId: null };
  await storeResponse(tx, project, { ...text, personId: 1, createdAt, updatedAt });
}

async function walkCursor<Row>(
  page: (after: string | null) => Promise<{ readonly rows: readonly Row[]; readonly next: string | null }>,
  meanwhile: () => Promise<void> = async () => undefined,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let after: string | null = null; ;) {
    const { rows: found, next } = await page(after);
    rows.push(...found);
    if (next === null) return rows;
    await meanwhile();
    after = next;
  }
}

async function walkPages<Row>(fetch: (page: number) => Promise<readonly Row[]>): Promise<Row[]> {
  const rows: Row[] = [];
  for (let page = 1; ; page += 1) {
    const found = await fetch(page);
    if (found.length === 0) return rows;
    rows.push(...found);
  }
}

const byKey = (
  [leftTime, leftId]: readonly [number, number],
  [rightTime, rightId]: readonly [number, number],
): number => leftTime - rightTime || leftId - rightId;

function inOrder(eventTimes: readonly number[]): [number, number][] {
  return eventTimes.map((time, index): [number, number] => [time, index + 1]).toSorted(byKey);
}

function keyOf(row: SurveyResponse, order: ResponseOrder): [number, number] {
  return [order.endsWith("updated_at") ? (row.updated_at ?? 0) : row.created_at, Number(row.id)];
}

describe.each(STORES)("%s", (engine) => {
  const withProject = async (work: (fixture: Fixture) => Promise<void>): Promise<void> => {
    const fixture = await openFixture({ engine });
    try {
      await work(fixture);
    } finally {
      await fixture.store.close();
    }
  };

  test("when people are walked, then each comes once in order, also those who were added after the walk began", () =>
    assert(
      asyncProperty(times, perPage, async (createdTimes, size) =>
        withProject(async (fixture) => {
          const { id: project } = fixture.project;
          await fixture.write(async (tx) => {
            for (const time of createdTimes) await insertPerson(tx, project, time);
          });
          const added: string[] = [];
          const rows = await walkCursor(
            (after) => fixture.read((tx) => listPeople(tx, fixture.project, peopleQuery({ perPage: size, after }))),
            async () => {
              if (added.length < 5) added.push(String(await fixture.write((tx) => insertPerson(tx, project, 5))));
            },
          );
          const expected = [...createdTimes, ...added.map(() => 5)]
            .map((time, index): [number, number] => [time, index + 1])
            .toSorted(byKey);
          expect(rows.map((row) => [row.created_at, Number(row.id)])).toEqual(expected);
        }),
      ),
      RUNS,
    ));

  test("when members are walked, then each comes once in order, also one who leaves behind the walk", () =>
    assert(
      asyncProperty(times, perPage, async (joinTimes, size) =>
        withProject(async (fixture) => {
          const { id: project } = fixture.project;
          // Time only moves forward, but several members can join within the same second.
          const joined = joinTimes.map((time) => fixture.time.now + time).toSorted((one, other) => one - other);
          const start = { kind: "after", at: 0 } as const;
          for (const time of joined) {
            fixture.time.now = time;
            await fixture.write(async (tx) => {
              const personId = await insertPerson(tx, project, 0);
              await tx.autopilot.insertMember(project, "sms", { personId, properties: {}, start });
            });
          }
          const left: number[] = [];
          const rows = await walkCursor(async (after) => {
            const page = await fixture.read((tx) =>
              listMembers(tx, fixture.project, membersQuery({ platform: "sms", perPage: size, after })),
            );
            for (const { person } of page.rows) left.push(Number(person.id));
            const gone = left.shift();
            if (gone !== undefined) await fixture.write((tx) => removePerson(tx, project, gone));
            return page;
          });
          expect(rows.map((row) => [row.created_at, Number(row.person.id)])).toEqual(inOrder(joined));
        }),
      ),
      RUNS,
    ));

  test("when responses are walked by page, then each comes once in the asked order, whatever page comes first and whatever changed before", () =>
    assert(
      asyncProperty(
        array(tuple(nat(5), nat(5)), { maxLength: 30 }),
        perPage,
        constantFrom(...RESPONSE_ORDERS),
        array(record({ page: integer({ min: 1, max: 12 }), change: tuple(nat(5), nat(5)) }), { maxLength: 4 }),
        async (rows, size, order, visits) =>
          withProject(async (fixture) => {
            const { id: project } = fixture.project;
            const fetch = (page: number) =>
              fixture.read((tx) =>
                listResponses(tx, fixture.project, responsesQuery({ order, page, perPage: size }), links),
              );
            await fixture.write(async (tx) => {
              await insertPerson(tx, project, 0);
              for (const row of rows) await insertResponse(tx, project, row);
            });
            // Reading pages out of order caches positions, which later changes must invalidate.
            for (const { page, change } of visits) {
              await fetch(page);
              await fixture.write((tx) => insertResponse(tx, project, change));
              await fetch(page);
            }
            const walked = await walkPages(fetch);
            const everything = [...rows, ...visits.map(({ change }) => change)].map(
              ([createdAt, updatedAt], index): [number, number] => [
                order.endsWith("updated_at") ? updatedAt : createdAt,
                index + 2,
              ],
            );
            const sorted = everything.toSorted(byKey);
            expect(walked.map((row) => keyOf(row, order))).toEqual(
              order.startsWith("desc") ? sorted.toReversed() : sorted,
            );
          }),
      ),
      RUNS,
    ));

  test("when bounces and unsubscribes are walked by page, then each comes once, oldest first", () =>
    assert(
      asyncProperty(times, perPage, async (eventTimes, size) =>
        withProject(async (fixture) => {
          const { id: project } = fixture.project;
          await fixture.write(async (tx) => {
            for (const time of eventTimes) {
              const id = await insertPerson(tx, project, 0);
              await tx.people.update(project, id, { bouncedAt: time, unsubscribedAt: 5 - time });
            }
          });
          const bounces = await walkPages((page) =>
            fixture.read((tx) => listBounces(tx, fixture.project, eventsQuery({ page, perPage: size }))),
          );
          const unsubscribes = await walkPages((page) =>
            fixture.read((tx) => listUnsubscribes(tx, fixture.project, eventsQuery({ page, perPage: size }))),
          );
          expect(bounces.map((row) => [row.bounced_at, Number(row.person_id)])).toEqual(inOrder(eventTimes));
          expect(unsubscribes.map((row) => [row.unsubscribed_at, Number(row.person_id)])).toEqual(
            inOrder(eventTimes.map((time) => 5 - time)),
          );
        }),
      ),
      RUNS,
    ));
});
