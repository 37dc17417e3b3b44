/** The SQL views are a public interface: names, columns, types and rows must not change. */
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/runtime/clock.ts";
import { openPostgresStore } from "../../../src/service/store/postgres/open-postgres-store.ts";
import { openSqliteStore } from "../../../src/service/store/sqlite/open-sqlite-store.ts";
import { newDatabase, onPostgres } from "../../helpers/postgres.ts";
import { newDataFile, openRawDatabase } from "../store/engines.ts";

type Row = Readonly<Record<string, unknown>>;

interface Connection {
  all(sql: string): Promise<readonly Row[]>;
  close(): Promise<void> | void;
}

async function connect(): Promise<Connection> {
  if (onPostgres) {
    const url = await newDatabase();
    await (await openPostgresStore({ url, clock: systemClock })).close();
    const client = new Client({ connectionString: url });
    await client.connect();
    return {
      all: async (sql) => (await client.query<Row>(sql)).rows.map(withNumbers),
      close: () => client.end(),
    };
  }
  const file = newDataFile();
  await (await openSqliteStore({ file, clock: systemClock })).close();
  const database = await openRawDatabase(file);
  return { all: async (sql) => database.all(sql).map((row) => ({ ...row })), close: () => database.close() };
}

const isNumber = (name: string): boolean =>
  /(?:^|_)id$|_unix$|^autopilot$|^score$/.test(name) && name !== "question_id" && name !== "choice_id";

/** The pg driver returns 64-bit numbers as strings. */
function withNumbers(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isNumber(name) && value !== null ? Number(value) : value]),
  );
}

const AT = 1_760_000_000;
const AT_TEXT = "2025-10-09T08:53:20Z";
const answer = (id: string, type: string, value: object): object => ({
  id: "1",
  value: { free_response: null, scale: null, select_one: null, select_many: null, ...value },
  question: { id, type, text: `Which ${id}?` },
});
const ANSWERS = [
  answer("why", "free_response", { free_response: 'it\'s "red"' }),
  answer("how", "scale", { scale: 4 }),
  answer("one", "select_one", { select_one: { id: "a", text: "Ä" } }),
  answer("many", "select_many", {
    select_many: [
      { id: "a", text: "Ä" },
      { id: "b", text: "B" },
    ],
  }),
];
const quoted = (value: unknown): string =>
  typeof value === "number" ? String(value) : `'${String(value).replaceAll("'", "''")}'`;

/** Everything the views must not show is SECRET. */
const WORLD: Readonly<Record<string, readonly Row[]>> = {
  projects: [{ id: 1, name: "acme", created_at: AT }],
  people: [
    {
      project_id: 1,
      id: 7,
      email: "ann@example.com",
      email_key: "SECRET",
      name: "Ann",
      phone_number: "+4930123456",
      properties: '{"plan":"pro"}',
      created_at: AT,
      last_sent_at: AT,
      last_responded_at: AT,
      next_survey_at: AT,
      bounced_at: AT,
      unsubscribed_at: AT,
    },
    { project_id: 1, id: 8, created_at: AT, removed: 1 },
    { project_id: 1, id: 9, created_at: AT },
  ],
  messages: [
    {
      project_id: 1,
      id: 20,
      channel: "email",
      person_id: 7,
      autopilot: 1,
      state: "bounced",
      created_at: AT,
      scheduled_at: AT + 1,
      sent_at: AT + 2,
      answered_at: AT + 4,
      properties: '{"a":"SECRET"}',
      token: "SECRET-1",
      message_id: "SECRET",
      frozen: "SECRET",
      unsubscribe_token: "SECRET-2",
      bounce_token: "SECRET",
      reason: "SECRET",
      page_facts: '"SECRET"',
    },
    { project_id: 1, id: 21, channel: "sms", person_id: 9, state: "scheduled", created_at: AT, scheduled_at: AT },
    {
      project_id: 1,
      id: 22,
      channel: "reminder",
      person_id: 7,
      request_id: 20,
      state: "sent",
      created_at: AT,
      scheduled_at: AT,
    },
    { project_id: 1, id: 23, channel: "digest", state: "sent", created_at: AT, scheduled_at: AT },
  ],
  delivery_attempts: [
    { project_id: 1, request_id: 20, n: 1, at: AT, stage: "data", ms: 1, outcome: "soft", text: "SECRET" },
    { project_id: 1, request_id: 20, n: 2, at: AT + 3, stage: "data", ms: 1, outcome: "bounced", text: "SECRET" },
  ],
  responses: [
    {
      project_id: 1,
      id: 30,
      person_id: 7,
      request_id: 20,
      score: 9,
      comment: "=1+1",
      token: "SECRET",
      created_at: AT,
      updated_at: AT + 60,
      person_properties: '{"plan":"pro"}',
      tags: '["x"]',
      additional_answers: JSON.stringify(ANSWERS),
      notes: '["SECRET"]',
      imported_permalink: "https://SECRET",
    },
    {
      project_id: 1,
      id: 31,
      person_id: 8,
      score: 0,
      token: "SECRET",
      created_at: AT,
      updated_at: AT,
      person_properties: "{}",
    },
  ],
  suppressions: [{ project_id: 1, channel: "email", address_hash: "SECRET", reason: "bounced", created_at: AT }],
};

let connection: Connection;
beforeAll(async () => {
  connection = await connect();
  for (const [table, rows] of Object.entries(WORLD))
    for (const row of rows)
      await connection.all(
        `INSERT INTO ${table} (${Object.keys(row).join(", ")}) VALUES (${Object.values(row).map(quoted).join(", ")})`,
      );
});
afterAll(() => connection.close());

const time = (name: string, after: number | null = 0): Row => ({
  [`${name}_at`]: after === null ? null : new Date((AT + after) * 1000).toISOString().replace(".000", ""),
  [`${name}_unix`]: after === null ? null : AT + after,
});

const ANSWERED = { project: "acme", response_id: 30, person_id: 7, ...time("created") };
const ROWS: Readonly<Record<string, readonly Row[]>> = {
  v1_people: [
    {
      project: "acme",
      id: 7,
      email: "ann@example.com",
      name: "Ann",
      phone_number: "+4930123456",
      properties: '{"plan":"pro"}',
      ...time("created"),
      ...time("last_sent"),
      ...time("last_responded"),
      ...time("next_survey_scheduled"),
      ...time("bounced"),
      ...time("unsubscribed"),
    },
    {
      project: "acme",
      id: 9,
      email: null,
      name: null,
      phone_number: null,
      properties: "{}",
      ...time("created"),
      ...time("last_sent", null),
      ...time("last_responded", null),
      ...time("next_survey_scheduled", null),
      ...time("bounced", null),
      ...time("unsubscribed", null),
    },
  ],
  v1_responses: [
    {
      project: "acme",
      id: 30,
      person_id: 7,
      person_email: "ann@example.com",
      person_name: "Ann",
      person_phone_number: "+4930123456",
      survey_id: 20,
      survey_type: "nps",
      score: 9,
      comment: "=1+1",
      person_properties: '{"plan":"pro"}',
      tags: '["x"]',
      ...time("created"),
      ...time("updated", 60),
    },
    {
      project: "acme",
      id: 31,
      person_id: 8,
      person_email: null,
      person_name: null,
      person_phone_number: null,
      survey_id: null,
      survey_type: "nps",
      score: 0,
      comment: null,
      person_properties: "{}",
      tags: "[]",
      ...time("created"),
      ...time("updated"),
    },
  ],
  v1_surveys: [
    {
      project: "acme",
      id: 20,
      person_id: 7,
      channel: "email",
      autopilot: 1,
      state: "bounced",
      ...time("created"),
      ...time("scheduled", 1),
      ...time("sent", 2),
      ...time("bounced", 3),
      ...time("answered", 4),
    },
    {
      project: "acme",
      id: 21,
      person_id: 9,
      channel: "sms",
      autopilot: 0,
      state: "scheduled",
      ...time("created"),
      ...time("scheduled"),
      ...time("sent", null),
      ...time("bounced", null),
      ...time("answered", null),
    },
  ],
  v1_answers: [
    ["how", "scale", null, "4"],
    ["many", "select_many", "a", "Ä"],
    ["many", "select_many", "b", "B"],
    ["one", "select_one", "a", "Ä"],
    ["why", "free_response", null, 'it\'s "red"'],
  ].map(([id, type, choice, value]) => ({
    ...ANSWERED,
    question_id: id,
    question_type: type,
    question: `Which ${id}?`,
    choice_id: choice,
    value,
  })),
};

async function rowsOf(view: string): Promise<readonly Row[]> {
  return connection.all(`SELECT * FROM ${view} ORDER BY ${view === "v1_answers" ? "question_id, choice_id" : "id"}`);
}

describe.each(Object.keys(ROWS))("%s", (view) => {
  test("has these columns and rows", async () => {
    expect(await rowsOf(view)).toEqual(ROWS[view]);
  });

  test("has numbers where numbers are, and text in every other column", async () => {
    const [first = {}] = await rowsOf(view);
    const columns = Object.keys(first);
    const expected = Object.fromEntries(
      columns.map((name) => [
        name,
        typeof (ROWS[view] ?? []).map((row) => row[name]).find((value) => value !== null && value !== undefined),
      ]),
    );
    const types = onPostgres
      ? await connection.all(
          `SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_name = '${view}'`,
        )
      : await Promise.all(
          columns.map(async (name) => ({
            name,
            type: (
              await connection.all(`SELECT typeof(${name}) AS type FROM ${view} WHERE ${name} IS NOT NULL LIMIT 1`)
            )[0]?.["type"],
          })),
        );
    const words: Readonly<Record<string, string>> = { bigint: "number", integer: "number", text: "string" };
    expect(Object.fromEntries(types.map(({ name, type }) => [name, words[String(type)]]))).toEqual(expected);
  });

  test("shows no secret", async () => {
    expect(JSON.stringify(await rowsOf(view))).not.toContain("SECRET");
  });
});

test("there are these views and no others", async () => {
  const list = onPostgres
    ? "SELECT table_name AS name FROM information_schema.views WHERE table_schema = 'public' ORDER BY 1"
    : "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY 1";
  expect((await connection.all(list)).map(({ name }) => name)).toEqual([
    "v1_answers",
    "v1_people",
    "v1_responses",
    "v1_surveys",
  ]);
  expect(time("created")["created_at"]).toBe(AT_TEXT);
});
