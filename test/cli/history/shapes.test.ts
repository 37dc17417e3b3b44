import { describe, expect, test } from "vitest";
import { size } from "../../helpers/long.ts";
import { createPast, WHOLE_SHAPES } from "../../helpers/past.ts";
import { openPastStore } from "../../helpers/past-store.ts";

const truth = createPast(size(30, 2000));

async function importedFrom(files: Readonly<Record<string, string>>) {
  const store = await openPastStore();
  try {
    const first = await store.import(files, { unknown: "properties" });
    const again = await store.import(files, { unknown: "properties" });
    const findings = await store.service.store.check();
    return { first, again, findings, tables: await store.dump() };
  } finally {
    await store.close();
  }
}

const expected = importedFrom(WHOLE_SHAPES["NDJSON of the API"]?.(truth) ?? {});

describe("service import", () => {
  test("when rows of the API come in, then people, responses and suppressions are stored as they were", async () => {
    const { first, findings, tables } = await expected;
    expect({ exit: first.exit, error: first.error, findings }).toEqual({ exit: 0, error: null, findings: [] });
    const person = new Map(tables.people?.map((row) => [Number(row.id), row]));
    expect(person.size).toBe(truth.people.length);
    for (const { id, email, name, created_at, phone_number } of truth.people)
      expect(person.get(Number(id))).toMatchObject({ email, name, created_at, phone_number, next_survey_at: null });
    const responses = new Map(tables.responses?.map((row) => [Number(row.id), row]));
    expect(responses.size).toBe(truth.responses.length);
    for (const row of truth.responses)
      expect(responses.get(Number(row.id))).toMatchObject({
        person_id: Number(row.person),
        survey_type: row.survey_type,
        score: row.score,
        comment: row.comment,
        created_at: row.created_at,
        updated_at: row.updated_at,
        person_properties: JSON.stringify(row.person_properties),
        tags: JSON.stringify(row.tags),
        notes: JSON.stringify(row.notes),
        additional_answers: JSON.stringify(row.additional_answers),
      });
    for (const { person_id: id, unsubscribed_at: at } of truth.unsubscribes)
      expect(person.get(Number(id))).toMatchObject({ unsubscribed_at: at });
    for (const { person_id: id, bounced_at: at } of truth.bounces)
      expect(person.get(Number(id))).toMatchObject({ bounced_at: at });
    expect(tables.suppressions).toHaveLength(truth.unsubscribes.length + truth.bounces.length);
    expect(tables.messages).toEqual([]);
  });

  test.for(Object.keys(WHOLE_SHAPES))("when history was saved as %s, then the store is the same", async (name) => {
    const files = WHOLE_SHAPES[name]?.(truth) ?? {};
    const { first, again, findings, tables } = await importedFrom(files);
    expect({ exit: first.exit, error: first.error, findings }).toEqual({ exit: 0, error: null, findings: [] });
    const whole = (await expected).tables;
    // Fivetran's tables have no permalinks.
    const hasPermalinks = Object.values(files).some((text) => text.includes("permalink"));
    const responses = whole.responses?.map((row) => ({ ...row, imported_permalink: null }));
    expect(tables).toEqual(hasPermalinks ? whole : { ...whole, responses });
    const kept = (JSON.parse(again.out) as { streams: { kept: number; conflicts: number }[] }).streams;
    expect(kept.map(({ kept: count, conflicts }) => count + conflicts)).toEqual(kept.map(() => 0));
    expect(again.exit).toBe(0);
  });
});
