import { describe, expect, test } from "vitest";
import { finishDelivery, releaseDeadClaims } from "../../../../../src/service/domain/delivery/deliveries.ts";
import { addResponse } from "../../../../../src/service/domain/answers/responses.ts";
import { type Migration, MIGRATIONS } from "../../../../../src/service/store/sql/schema/migrations.ts";
import type { EngineName } from "../../../../../src/service/store/sqlite/engine/engine.ts";
import { findForeign } from "../../../../../src/service/store/sqlite/foreign-parts.ts";
import { migrate } from "../../../../../src/service/store/sqlite/engine/migrate.ts";
import { NEW_FILE, NEW_FILE_PARTS } from "../../../../../src/service/store/sqlite/new-file.ts";
import { claimAll, links, openFixture, responseInput, responsesQuery, START } from "../../../domain/fixture.ts";
import { listResponses } from "../../../domain/lists.ts";
import { ENGINES, newDataFile, openRawDatabase } from "../../engines.ts";

const ROWS = 5000;
const FIRST_SCHEMA = MIGRATIONS.slice(0, 1);

/** A data file as the first version left it, with rows in every list that is counted. */
const FILL: readonly string[] = [
  `INSERT INTO projects (id, name, created_at, next_id) VALUES (1, 'default', 0, 100000)`,
  `INSERT INTO projects (id, name, created_at, next_id) VALUES (2, 'other', 0, 100000)`,
  `INSERT INTO people (project_id, id, created_at, bounced_at, unsubscribed_at) VALUES (1, 1, 0, 5, NULL), (1, 2, 0, NULL, 6), (2, 1, 0, NULL, NULL)`,
  `INSERT INTO survey_requests (project_id, id, person_id, channel, autopilot, state, created_at, scheduled_at, sent_at, properties, token)
   VALUES (1, 9, 1, 'sms', 0, 'sent', 0, 0, 7, '{}', 'r')`,
  `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${ROWS})
   INSERT INTO responses (project_id, id, person_id, score, token, created_at, updated_at, person_properties)
   SELECT 1 + i % 2, 10 + i, 1, i % 11, 't' || i, i / 7, ${START} + i, '{}' FROM n`,
  `INSERT INTO trends (project_id, id, name, created_at) VALUES (1, 5, 'all', 0)`,
  `INSERT INTO trend_responses SELECT project_id, 5, id, created_at, updated_at, score FROM responses WHERE project_id = 1`,
];

/** One request of each state that a file could hold before deliveries had states of their own, as it was and is now. */
const OLD_STATES: readonly (readonly [
  id: number,
  was: readonly [state: string, dueAt: number | null, claimer: string | null, attempts: number, sentAt: number | null],
  is: readonly [state: string, attempts: number, claims: number, firstAttemptAt: number | null],
])[] = [
  [11, ["waiting", 500, null, 0, null], ["scheduled", 0, 0, null]],
  [12, ["waiting", 500, null, 2, null], ["retrying", 2, 2, 100]],
  [13, ["waiting", 500, "dead", 1, null], ["claimed", 0, 1, 100]],
  [14, ["waiting", 500, "dead", 3, null], ["claimed", 2, 3, 100]],
  [15, ["paused", null, null, 0, null], ["paused", 0, 0, null]],
  [16, ["sent", null, null, 1, 200], ["sent", 1, 1, 200]],
  [17, ["failed", null, null, 1, null], ["bounced", 1, 1, 100]],
  [18, ["cancelled", null, "dead", 1, null], ["cancelled", 0, 1, 100]],
];

/** A data file of the schema before deliveries had states, with a row in each state. */
const FILL_STATES: readonly string[] = [
  `INSERT INTO projects (id, name, created_at, next_id) VALUES (1, 'default', 0, 1000)`,
  `INSERT INTO autopilot_configurations VALUES (1, 'email', 1, 60, 0, 0)`,
  `INSERT INTO people (project_id, id, email, email_key, created_at) VALUES (1, 1, 'a@x.co', 'a@x.co', 0)`,
  ...OLD_STATES.map(
    ([id, [state, dueAt, claimer, attempts, sentAt]]) => `INSERT INTO survey_requests
      (project_id, id, person_id, channel, autopilot, state, created_at, scheduled_at, due_at, claimer, attempts, sent_at, properties, token)
      VALUES (1, ${id}, 1, 'email', 0, '${state}', 0, 100, ${dueAt ?? "NULL"}, ${claimer === null ? "NULL" : `'${claimer}'`},
        ${attempts}, ${sentAt ?? "NULL"}, '{}', 'token${id}')`,
  ),
  `INSERT INTO list_blocks VALUES (1, 'sent email', ${Number.MIN_SAFE_INTEGER}, 0, 1, 0, 0, 0, 0)`,
  `INSERT INTO list_blocks VALUES (1, 'people', ${Number.MIN_SAFE_INTEGER}, 0, 1, 0, 0, 0, 0)`,
];

/** All that an empty file has that was brought up to date: tables, their columns, keys, indexes, triggers and rows. */
async function makeNew(engine: EngineName, start?: Migration): Promise<unknown> {
  const database = await openRawDatabase(engine);
  await migrate(database, MIGRATIONS, START, start);
  // AUTOINCREMENT, which no table has today, left `sqlite_sequence`.
  const tables = database.all(`SELECT name, wr AS "isClustered", strict FROM pragma_table_list
    WHERE schema = 'main' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name`);
  const parts = tables.map(({ name }) => ({
    columns: database.all(`PRAGMA table_xinfo(${name})`),
    references: database.all(
      `SELECT "table", "from", "to", on_delete, seq FROM pragma_foreign_key_list('${name}') ORDER BY 1, 2`,
    ),
    indexes: database.all(
      `SELECT i.name, i."unique", i.partial, m.sql FROM pragma_index_list('${name}') i
       LEFT JOIN sqlite_master m ON m.name = i.name ORDER BY 1`,
    ),
    rows: database.all(`SELECT * FROM ${name}`),
  }));
  const triggers = database.all("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name");
  database.close();
  const text = JSON.stringify({ tables, parts, triggers }, (key, value) => (key === "sql" ? plain(value) : value));
  return JSON.parse(text.replace(/(?<="erasure","value":")[\w-]{43}/, "secret"));
}

/** SQL without its line breaks, and without the quotes that a renamed table gets. */
function plain(sql: unknown): string {
  return String(sql)
    .replaceAll(/\s+/g, " ")
    .replaceAll(/(?<=\() | (?=[,)])|"/g, "");
}

describe.each(ENGINES)("%s", (engine) => {
  test("when a file has come through every migration, then no part of it is foreign", async () => {
    const database = await openRawDatabase(engine);
    await migrate(database, MIGRATIONS, START);
    const later = MIGRATIONS.filter(({ version }) => version > NEW_FILE.version);
    expect(findForeign(database, NEW_FILE_PARTS, later)).toBeNull();
    database.exec("ALTER TABLE trends ADD COLUMN mine INTEGER");
    const added: Migration = { version: 1000, statements: ["ALTER TABLE trends ADD COLUMN ours INTEGER"] };
    for (const sql of added.statements) database.exec(sql);
    expect(findForeign(database, NEW_FILE_PARTS, [...later, added])).toBe(
      "a column that is not surveyctl's: trends.mine",
    );
    database.close();
  });

  test("when a data file is new, then it is what every migration, one after the other, makes of an empty one", async () => {
    expect(await makeNew(engine, NEW_FILE)).toEqual(await makeNew(engine));
  });

  const makeOldFile = async (schema = FIRST_SCHEMA, fill = FILL): Promise<string> => {
    const file = newDataFile();
    const database = await openRawDatabase(engine, file);
    await migrate(database, schema, START);
    database.exec("BEGIN");
    for (const statement of fill) database.exec(statement);
    database.exec("COMMIT");
    database.close();
    return file;
  };

  test("when a file of the first version is opened, then its lists are counted, and pages and new rows are right", async () => {
    const fixture = await openFixture({ file: await makeOldFile(), engine });
    const { project } = fixture;
    expect(await fixture.store.check()).toEqual([]);
    const open = { since: null, until: null };
    const counted = await fixture.read(async (tx) => [
      await tx.projects.counts(1),
      await tx.projects.counts(2),
      await tx.people.countBounced(1, open),
      await tx.people.countUnsubscribed(1, open),
      await tx.requests.countSent(1, "sms", open),
      await tx.responses.countScores(1, { since: 100, until: 600, trendId: 5 }),
      await tx.responses.countScores(1, { since: 100, until: 600, trendId: null }),
    ]);
    const scores = Array.from({ length: ROWS }, (_, index) => index)
      .filter((index) => index % 2 === 0 && Math.floor(index / 7) >= 100 && Math.floor(index / 7) <= 600)
      .map((index) => index % 11);
    const promoters = scores.filter((score) => score >= 9).length;
    const detractors = scores.filter((score) => score < 7).length;
    const inRange = { promoters, detractors, passives: scores.length - promoters - detractors };
    expect(counted).toEqual([
      { people: 2, responses: ROWS / 2 },
      { people: 1, responses: ROWS / 2 },
      1,
      1,
      1,
      inRange,
      inRange,
    ]);
    for (let index = 0; index < 5; index += 1)
      await fixture.write((tx) => addResponse(tx, project, responseInput({ personId: "1", createdAt: 0 }), links));
    const last = responsesQuery({ page: ROWS / 2 / 5 + 1, perPage: 5 });
    const ids = (await fixture.read((tx) => listResponses(tx, project, last, links))).map(({ id }) => Number(id));
    expect(ids).toEqual([0, 2, 4, 6, 8].map((step) => 10 + ROWS - 10 + step));
    expect(await fixture.store.check()).toEqual([]);
    await fixture.store.close();
  });

  test("when bringing a file up to date fails at any statement, then the file is as it was and the next try succeeds", async () => {
    const [, counts] = MIGRATIONS;
    const { version = 0, statements = [] } = counts ?? {};
    const file = await makeOldFile();
    for (let index = 0; index <= statements.length; index += 4) {
      const database = await openRawDatabase(engine, file);
      const broken = [...statements.slice(0, index), "nonsense"];
      await expect(migrate(database, [...FIRST_SCHEMA, { version, statements: broken }], START)).rejects.toThrow(
        "syntax error",
      );
      expect(database.all("SELECT name FROM sqlite_master WHERE name IN ('list_blocks', 'long_changes')")).toEqual([]);
      database.close();
    }
    const fixture = await openFixture({ file, engine });
    expect(await fixture.store.check()).toEqual([]);
    await fixture.store.close();
  });

  test("when a file of the schema before deliveries had states is opened, then each row has its state", async () => {
    const file = await makeOldFile(MIGRATIONS.slice(0, 6), FILL_STATES);
    const database = await openRawDatabase(engine, file);
    await migrate(database, MIGRATIONS, START);
    const rows = database.all(
      `SELECT id, state, attempts, claims, first_attempt_at AS "firstAttemptAt" FROM survey_requests ORDER BY id`,
    );
    const tokens = database.all("SELECT id, unsubscribe_token AS token FROM survey_requests ORDER BY id");
    expect(rows.map((row) => ({ ...row }))).toEqual(
      OLD_STATES.map(([id, , [state, attempts, claims, firstAttemptAt]]) => ({
        id,
        state,
        attempts,
        claims,
        firstAttemptAt,
      })),
    );
    // A message that may have left carries its answering token as its unsubscribe link.
    expect(tokens.map(({ token }) => String(token).replace(/^[\w-]{22}$/, "one of its own"))).toEqual(
      OLD_STATES.map(([id, , [, , claims]]) => (claims > 0 ? `token${id}` : "one of its own")),
    );
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(OLD_STATES.length);
    database.close();

    const fixture = await openFixture({ file, engine });
    expect(await fixture.store.check()).toEqual([]);
    expect(await fixture.write((tx) => releaseDeadClaims(tx, ["one"]))).toBe(2);
    const due = await fixture.write(claimAll);
    expect(due.map(({ requestId, attempts, claims }) => [requestId, attempts, claims])).toEqual([
      [11, 0, 1],
      [12, 2, 3],
      [13, 0, 2],
      [14, 2, 4],
    ]);
    for (const one of due) await fixture.write((tx) => finishDelivery(tx, one, { kind: "sent" }));
    expect(await fixture.store.check()).toEqual([]);
    await fixture.store.close();
  });

  test("when a file without state rows is opened, then its events keep their ids and later ids are above all", async () => {
    const file = await makeOldFile(MIGRATIONS.slice(0, 12), [
      `INSERT INTO projects (id, name, created_at, next_id) VALUES (1, 'default', 0, 6), (2, 'other', 0, 9)`,
      `INSERT INTO webhooks (project_id, id, url, secret, signature_header, allow_private, insecure_http, events, format, created_at)
       VALUES (1, 5, 'https://x.co', 's', 'h', 0, 0, '[]', 'json', 0)`,
      `INSERT INTO webhook_events (id, project_id, event_id, type, person_id, created_at, json) VALUES (40, 1, 'e', 't', 1, 7, '{}')`,
      `INSERT INTO webhook_deliveries (project_id, webhook_id, event, state, due_at) VALUES (1, 5, 40, 'waiting', 7)`,
      `INSERT INTO webhook_attempts (project_id, webhook_id, event, n, at, ms, text) VALUES (1, 5, 40, 1, 7, 3, 'no')`,
    ]);
    const fixture = await openFixture({ file, engine });
    const log = [{ n: 1, at: 7, status: null, ms: 3, text: "no" }];
    expect(
      await fixture.read((tx) => tx.webhooks.deliveries(1, 5, { failed: false, before: null, limit: 9 })),
    ).toMatchObject([{ event: 40, eventId: "e", state: "waiting", log }]);
    expect(await fixture.read((tx) => tx.webhooks.counts(1, 5))).toEqual({ waiting: 1, delivered: 0, failed: 0 });
    const next = (project: number) => fixture.write((tx) => tx.history.nextId(project));
    expect([await next(1), await next(1), await next(2)]).toEqual([41, 42, 9]);
    await fixture.write((tx) => tx.webhooks.delete(1, 5));
    expect(await fixture.store.check()).toEqual([]);
    await fixture.store.close();
  });
});
