/** Counts the statements of each action, so that an extra one fails a test. */
import { expect, test } from "vitest";
import { createFakeClock } from "../helpers/fake-clock.ts";
import { type EmbeddedService, openEmbeddedService } from "../helpers/embedded-service.ts";
import { onPostgres } from "../helpers/postgres.ts";
import { readText } from "../helpers/read-text.ts";
import { countTrips } from "../helpers/round-trips.ts";
import { openHttp } from "./http/fixture.ts";

/** Includes `BEGIN`, `COMMIT` and savepoints. `trips` counts round trips to the server. */
interface Cost {
  readonly sqlite: number;
  readonly postgres: readonly [statements: number, trips: number];
}

test("a request runs so many statements", async () => {
  const count = { statements: 0 };
  const fixture = await openHttp({ onStatement: () => (count.statements += 1) });
  const emails = { count: 0 };
  const email = (): string => `p${(emails.count += 1)}@example.com`;
  for (let n = 0; n < 60; n += 1) {
    const { id } = await fixture.post("/v1/people.json", { email: email(), send: false });
    const response = { person: id, score: n % 11, created_at: fixture.time.now - n * 40_000 };
    await fixture.post("/v1/survey_responses.json", response);
  }
  const person = await fixture.post("/v1/people.json", { email: email(), send: false });
  const known = { email: "p1@example.com", name: "One", send: false };
  const range = `since=${fixture.time.now - 1_000_000}&until=${fixture.time.now - 300_000}`;
  const actions: readonly [name: string, cost: Cost, work: () => Promise<unknown>][] = [
    ["person by e-mail", { sqlite: 3, postgres: [3, 2] }, () => fixture.get("/v1/people.json?email=p3@example.com")],
    // The day where the page begins, its rows, and whether any has further answers.
    ["page by number", { sqlite: 5, postgres: [5, 4] }, () => fixture.get("/v1/survey_responses.json?page=2")],
    // Daily counts, and the two partial days at the ends of the range.
    ["metrics of a range", { sqlite: 5, postgres: [5, 4] }, () => fixture.get(`/v1/metrics.json?${range}`)],
    ["post", { sqlite: 10, postgres: [9, 5] }, () => fixture.post("/v1/people.json", { email: email(), send: false })],
    // The survey, and whether sending is paused.
    [
      "post with a survey",
      { sqlite: 12, postgres: [11, 6] },
      () => fixture.post("/v1/people.json", { email: email(), delay: 86_400 }),
    ],
    // The person's last response, shared pages' days, trends, webhooks, and the response as JSON.
    [
      "response",
      { sqlite: 14, postgres: [13, 6] },
      () => fixture.post("/v1/survey_responses.json", { person: person["id"], score: 3 }),
    ],
    // The person, the count of writes, the project's state.
    ["post of a known person", { sqlite: 8, postgres: [7, 3] }, () => fixture.post("/v1/people.json", known)],
    // The survey and what speaks against it.
    [
      "post of a known person with a survey",
      { sqlite: 11, postgres: [10, 5] },
      () => fixture.post("/v1/people.json", { email: "p2@example.com", name: "Two", delay: 86_400 }),
    ],
    [
      "change of a person with a survey",
      { sqlite: 12, postgres: [11, 6] },
      () => fixture.post("/v1/people.json", { email: "p3@example.com", name: email(), delay: 86_400 }),
    ],
  ];
  const found: Record<string, unknown> = {};
  for (const [name, , work] of actions) {
    await work();
    count.statements = 0;
    const trips = await countTrips(work);
    found[name] = onPostgres ? [count.statements, trips] : count.statements;
  }
  const expected = actions.map(([name, { sqlite, postgres }]) => [name, onPostgres ? postgres : sqlite]);
  expect(found).toEqual(Object.fromEntries(expected));
  await fixture.store.close();
});

async function readStatements({ service }: EmbeddedService): Promise<number> {
  const text = await readText(
    await service.handle({ method: "GET", url: "http://embedded.test/metrics", headers: {} }),
  );
  return Number(/store_statements_total (\d+)/.exec(text)?.[1]);
}

async function countStatements(embedded: EmbeddedService, work: () => Promise<unknown>): Promise<number> {
  const [first, second] = [await readStatements(embedded), await readStatements(embedded)];
  await work();
  return (await readStatements(embedded)) - second - (second - first);
}

test("a survey that leaves at once runs so many statements from due to recorded", async () => {
  const embedded = await openEmbeddedService({ clock: createFakeClock() });
  const found: number[] = [];
  for (const email of ["a@example.com", "b@example.com", "c@example.com"]) {
    await embedded.client.sendPerson({ email });
    found.push(await countStatements(embedded, () => embedded.service.finishDue()));
  }
  // The first run also includes work at the start.
  expect(found.slice(1)).toEqual(onPostgres ? [34, 34] : [36, 36]);
  await embedded.close();
});

// On PostgreSQL the fake clock would run ahead of the server's replies.
test.skipIf(onPostgres)("an idle server runs at most ten statements a second", async () => {
  const clock = createFakeClock();
  const embedded = await openEmbeddedService({ clock });
  embedded.service.start();
  const minute = async (): Promise<void> => {
    const end = clock.now() + 60_000;
    while (clock.now() < end) await new Promise((resolve) => setImmediate(resolve));
  };
  await minute();
  expect((await countStatements(embedded, minute)) / 60).toBeLessThanOrEqual(10);
  await embedded.close();
});
