/** A schema 1 store written by version 1.0.0, which kept its counts in triggers (SQLite) or views (PostgreSQL). */
import { removePerson } from "../../../src/service/domain/people/person-removal.ts";
import { copyFileSync, readFileSync } from "node:fs";
import path from "node:path";
import { Client } from "pg";
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../../src/runtime/clock.ts";
import type { Store } from "../../../src/service/domain/ports.ts";
import { summarizeQueue } from "../../../src/service/domain/delivery/oversight.ts";
import { addResponse } from "../../../src/service/domain/answers/responses.ts";
import { getMetrics } from "../../../src/service/domain/answers/metrics.ts";
import { openPostgresStore } from "../../../src/service/store/postgres/open-postgres-store.ts";
import { openSqliteCopy, openSqliteStore } from "../../../src/service/store/sqlite/open-sqlite-store.ts";
import { newDatabase, onPostgres } from "../../helpers/postgres.ts";
import { sendPerson } from "../../../src/service/domain/people/people.ts";
import { type Write, undoWrites } from "../../../src/service/domain/people/undo-writes.ts";
import { addProject } from "../../../src/service/domain/projects/projects.ts";
import { links, metricsQuery, responseInput, sendInput } from "../domain/fixture.ts";
import type { StoreEvent } from "../../../src/service/store/store-errors.ts";
import { newDataFile, openRawDatabase } from "./engines.ts";

const DUMP = readFileSync(path.join(import.meta.dirname, "../../fixtures/schema-1.sql"), "utf8");

function toServer(dump: string): string {
  const tables = dump.slice(0, dump.indexOf("CREATE TRIGGER")).split(";\n");
  const kept = tables.filter((sql) => !/^PRAGMA|^(?:CREATE TABLE|INSERT INTO) (?:delivery|webhook)_counts\b/.test(sql));
  const views = [
    "CREATE VIEW delivery_counts AS SELECT project_id, channel, state, count(*) AS n FROM messages GROUP BY 1, 2, 3",
    "CREATE VIEW webhook_counts AS SELECT project_id, webhook_id, state, count(*) AS n FROM webhook_deliveries GROUP BY 1, 2, 3",
    "COMMIT",
  ];
  return [...kept, ...views]
    .join(";\n")
    .replaceAll(/\bINTEGER\b/g, "BIGINT")
    .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
    .replaceAll(" WITHOUT ROWID", "");
}

const newPlace = async (): Promise<string> => (onPostgres ? newDatabase() : newDataFile());
const openAt = (place: string): Promise<Store> =>
  onPostgres
    ? openPostgresStore({ url: place, clock: systemClock })
    : openSqliteStore({ file: place, clock: systemClock });

async function execute(place: string, sql: string): Promise<void> {
  if (!onPostgres) {
    const database = await openRawDatabase(place);
    database.exec(sql);
    database.close();
    return;
  }
  const client = new Client({ connectionString: place });
  await client.connect();
  await client.query(sql);
  await client.end();
}

async function openOld(dump: string): Promise<Store> {
  const place = await newPlace();
  await execute(place, onPostgres ? toServer(dump) : dump);
  return openAt(place);
}

test("a store of schema 1 opens, with all rows counted anew", async () => {
  const store = await openOld(DUMP.replace("'sent email',20785,2,", "'sent email',20785,7,"));
  expect(await store.check()).toEqual([]);
  const project = { id: 1, name: "default" };
  const sent = await store.read((tx) => tx.requests.countSent(1, "email", { since: null, until: null }));
  expect(sent).toBe(2);
  expect((await store.read(summarizeQueue)).states).toMatchObject({ scheduled: 1, sent: 2 });
  expect(await store.read((tx) => tx.webhooks.counts(1, 16))).toEqual({ waiting: 3, delivered: 0, failed: 0 });
  expect(await store.read((tx) => getMetrics(tx, project, metricsQuery({ trend: "30" })))).toMatchObject({
    response_count: 6,
    promoter_count: 3,
  });
  await store.write(
    async (tx) => {
      await removePerson(tx, 1, 4);
      await removePerson(tx, 1, 8);
    },
    { project: "all" },
  );
  await store.settle();
  expect(await store.check()).toEqual([]);
  await store.close();
});

test.runIf(!onPostgres)("a file that an older version serves isn't upgraded until that has stopped", async () => {
  const file = newDataFile();
  const database = await openRawDatabase(file);
  database.exec(DUMP);
  const now = Math.floor(systemClock.now() / 1000);
  database.exec(`INSERT INTO processes VALUES ('old:1', ${now - 20})`);
  database.close();
  const events: StoreEvent[] = [];
  const open = (clock: Clock) => openSqliteStore({ file, clock, onEvent: (event) => events.push(event) });
  await expect(open(systemClock)).rejects.toMatchObject({
    trouble: "served",
    message: `${file}: an older version serves this file; stop it before using this one (after a crash, wait 30 seconds)`,
  });
  // Backups contain the old server's process row too.
  const copy = newDataFile();
  copyFileSync(file, copy);
  await (await openSqliteCopy({ file: copy, clock: systemClock })).close();
  const store = await open({ ...systemClock, now: () => systemClock.now() + 10_000 });
  await store.close();
  expect(events.filter(({ kind }) => kind !== "readable")).toEqual([{ kind: "upgraded", from: 1, to: 6 }]);
});

const ADDED = ["people DROP COLUMN writes", "people DROP COLUMN value_writes", "responses DROP COLUMN edits"];
const TO_SCHEMA_5 = [...ADDED.map((change) => `ALTER TABLE ${change}`), "UPDATE schema_versions SET version = 5"];

const WRITE: Write = {
  before: undefined,
  values: null,
  writes: null,
  createdAt: null,
  survey: null,
  surveyAt: null,
  platform: null,
  since: null,
  response: null,
  updatedAt: null,
  stays: [],
};

test("a store of schema 5 opens, and counts writes from then on", async () => {
  const place = await newPlace();
  const old = await openAt(place);
  const project = await old.write((tx) => addProject(tx, "default"), { project: "all" });
  const save = (store: Store, name: string) =>
    store.write((tx) => sendPerson(tx, project, sendInput({ email: "ada@x.co", name, send: false })), {
      project: "all",
    });
  const { person } = await save(old, "Ada");
  const add = (store: Store) =>
    store.write((tx) => addResponse(tx, project, responseInput({ personId: person.id }), links), { project: "all" });
  const past = await add(old);
  await old.close();
  await execute(place, TO_SCHEMA_5.join(";\n"));
  const store = await openAt(place);
  const counts = async () => {
    const row = await store.read((tx) => tx.people.byId(project.id, Number(person.id)));
    return [row?.writes, row?.valueWrites];
  };
  expect([await store.check(), await counts()]).toEqual([[], [0, 0]]);
  await save(store, "Ada");
  expect(await counts()).toEqual([1, 1]);
  const writes = [past, await add(store)].map(({ id, updated_at: updatedAt }) => ({
    ...WRITE,
    response: id,
    updatedAt,
  }));
  const { undone } = await store.write((tx) => undoWrites(tx, project, person.id, writes), { project: "all" });
  expect(undone).toEqual({
    done: ["response deleted"],
    kept: ["the record doesn't say whether the response was changed since"],
  });
  await store.close();
});
