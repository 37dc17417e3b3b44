import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { PastResponse } from "../../../src/service/domain/history/rows.ts";
import { countHistory, type HistoryTally } from "../../../src/service/history/tally.ts";
import { openEngine, TEMPORARY } from "../../../src/service/store/sqlite/engine/engine.ts";

const JANUARY = Date.UTC(2026, 0, 1) / 1000;
const MONTH = 31 * 86_400;

interface Row {
  readonly id: number | null;
  readonly personId: number | null;
  readonly email: string;
  readonly score: number;
  readonly createdAt: number;
  readonly version: number;
}

const row: fc.Arbitrary<Row> = fc.record({
  id: fc.option(fc.integer({ min: 1, max: 12 })),
  personId: fc.option(fc.integer({ min: 1, max: 6 })),
  email: fc.constantFrom("ada@example.com", "Ada@example.com", "bob@example.com", "eve@example.com"),
  score: fc.integer({ min: 0, max: 10 }),
  createdAt: fc.integer({ min: JANUARY - MONTH, max: JANUARY + MONTH }),
  version: fc.integer({ min: 0, max: 3 }),
});

test("when the same rows are counted by hand, then the tally says the same", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 60 }), async (rows) => {
      const database = await openEngine(TEMPORARY);
      const count = countHistory("Asia/Tokyo", database);
      rows.forEach((each, ordinal) => count.add(toPast(each), ordinal));
      expect(answersOf(count.finish(), rows)).toEqual(byHand(rows));
      database.close();
    }),
    { numRuns: 100 },
  );
});

function answersOf(tally: HistoryTally, rows: readonly Row[]) {
  return {
    newest: rows.map((_, ordinal) => tally.isNewest(ordinal)),
    answeredAt: PERSON_IDS.map((id) => tally.answeredAt(id)),
    people: tally.people,
    months: tally.months.map(({ month, responses, promoters }) => ({ month, responses, promoters })),
    total: tally.total.responses,
    streams: [...tally.streams],
  };
}

const PERSON_IDS = [1, 2, 3, 4, 5, 6];

function byHand(rows: readonly Row[]): ReturnType<typeof answersOf> {
  const keys = rows.map(({ id, personId, email, createdAt, score }) =>
    id === null ? `${personId ?? email.toLowerCase()} ${createdAt} ${score}` : id,
  );
  const isNewest = rows.map(({ version }, at) =>
    rows.every(
      (other, to) => keys[to] !== keys[at] || other.version < version || (other.version === version && to <= at),
    ),
  );
  const kept = rows.filter((_, at) => isNewest[at]);
  const labels = kept.map(({ createdAt }) => new Date((createdAt + 9 * 3600) * 1000).toISOString().slice(0, 7));
  const withId = new Set(rows.filter(({ personId }) => personId !== null).map(({ email }) => email.toLowerCase()));
  const ids = new Set(rows.flatMap(({ personId }) => (personId === null ? [] : [personId])));
  const others = new Set(rows.map(({ email }) => email.toLowerCase()).filter((email) => !withId.has(email)));
  const latest = (id: number): number | null =>
    rows.reduce<number | null>(
      (at, each) => (each.personId === id && each.createdAt > (at ?? -1) ? each.createdAt : at),
      null,
    );
  const counts = { read: rows.length, refused: 0, newest: kept.length, merged: rows.length - kept.length };
  return {
    newest: isNewest,
    answeredAt: PERSON_IDS.map(latest),
    people: ids.size + others.size,
    months: [...new Set(labels)].toSorted().map((month) => ({
      month,
      responses: labels.filter((label) => label === month).length,
      promoters: kept.filter(({ score }, at) => labels[at] === month && score >= 9).length,
    })),
    total: kept.length,
    streams: rows.length === 0 ? [] : [["responses", counts]],
  };
}

function toPast({ id, personId, email, score, createdAt, version }: Row) {
  const person = { id: personId, email, phoneNumber: null, createdAt: null } as PastResponse["person"];
  const response = { id, person, surveyType: "nps", score, createdAt } as PastResponse;
  return { stream: "responses" as const, row: response, version, lost: [] };
}
