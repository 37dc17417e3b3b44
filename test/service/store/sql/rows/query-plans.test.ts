import { describe, expect, test } from "vitest";
import { RESPONSE_ORDERS } from "../../../../../src/contract/routes.ts";
import type { ResponsesFilter } from "../../../../../src/service/domain/ports.ts";
import { AutopilotRows } from "../../../../../src/service/domain/surveys/autopilot/autopilot-rows.ts";
import type { Database } from "../../../../../src/service/sql/database.ts";
import type { SqlValue } from "../../../../../src/service/sql/database.ts";
import { migrate } from "../../../../../src/service/store/sqlite/engine/migrate.ts";
import { DELIVERY_STATES } from "../../../../../src/service/domain/delivery/queue-rows.ts";
import { refreshNextSurvey } from "../../../../../src/service/domain/delivery/rows/claims.ts";
import { DeliveryRows } from "../../../../../src/service/domain/delivery/rows/delivery-rows.ts";
import { SenderRows } from "../../../../../src/service/domain/delivery/rows/sender-rows.ts";
import { PersonRows } from "../../../../../src/service/domain/people/person-rows.ts";
import { ReportRows } from "../../../../../src/service/domain/delivery/rows/report-rows.ts";
import { QueueRows } from "../../../../../src/service/domain/delivery/rows/queue-rows.ts";
import { RequestRows } from "../../../../../src/service/domain/delivery/rows/request-rows.ts";
import { ResponseRows } from "../../../../../src/service/domain/answers/response-rows.ts";
import { UnscheduledRows } from "../../../../../src/service/domain/surveys/unscheduled-rows.ts";
import { WebhookRows } from "../../../../../src/service/domain/webhooks/webhook-rows.ts";
import { TrendRows } from "../../../../../src/service/domain/answers/trend-rows.ts";
import { type SqliteDatabase, toDatabase } from "../../../../../src/service/store/sqlite/engine/database.ts";
import { ProjectStates } from "../../../../../src/service/sql/project-states.ts";
import { openRawDatabase } from "../../engines.ts";

const opened: { database: Promise<SqliteDatabase> | null } = { database: null };
async function openMigrated(): Promise<SqliteDatabase> {
  const database = await openRawDatabase();
  await migrate(database, 0);
  database.writing = true;
  return database;
}

/** Returns SQLite's query plans for `work`, one line per step, and rolls back. */
async function plansOf(work: (database: Database) => Promise<unknown>): Promise<string[]> {
  const sqlite = await (opened.database ??= openMigrated());
  sqlite.exec("BEGIN");
  const plans: string[] = [];
  const explain = (sql: string, values: readonly SqlValue[] = []): void => {
    for (const { detail } of sqlite.all(`EXPLAIN QUERY PLAN ${sql}`, values)) plans.push(String(detail));
  };
  const states = new ProjectStates(async () => ({ project_id: 1, nextId: 1, clock: 0, version: 0 }));
  const database = toDatabase(sqlite, states);
  const spy: Database = {
    ...database,
    all: (sql, values) => (explain(sql, values), database.all(sql, values)),
    first: (sql, values) => (explain(sql, values), database.first(sql, values)),
    returning: (sql, values) => (explain(sql, values), database.returning(sql, values)),
  };
  await work(spy);
  sqlite.exec("ROLLBACK");
  return plans;
}

const open = { since: null, until: null };
const all: ResponsesFilter = {
  ...open,
  updatedSince: null,
  updatedUntil: null,
  personId: null,
  trendId: null,
  order: "asc",
  offset: 0,
  limit: 20,
};
const shape = { expandPerson: true, expandNotes: true, permalinkPrefix: "" };
const responseRows = (database: Database) => new ResponseRows(database, { now: 9, updatedAt: 9 });
const responses = (filter: Partial<ResponsesFilter>) => (database: Database) =>
  responseRows(database).list(1, { ...all, ...filter }, shape);
const people = (database: Database) => new PersonRows(database, { now: 9, updatedAt: 9 });
const queue = (database: Database) => new QueueRows(database, { now: 9, updatedAt: 9 });
const requests = (database: Database) => new RequestRows(database, { now: 9, updatedAt: 9 });

const deliveries = (database: Database) => new DeliveryRows(database, { now: 9, updatedAt: 9 });

const unscheduled = (database: Database) => new UnscheduledRows(database, { now: 9, updatedAt: 9 });
const duePage = { since: 1, until: 99, order: "desc", after: { at: 9, id: 2 }, limit: 20 } as const;

const webhooks = (database: Database) => new WebhookRows(database, { now: 9, updatedAt: 9 }, () => undefined);
const page = { after: 0, limit: 20 };

const HELD_REMINDERS = { state: "held", isReminder: true } as const;

const LISTS: [string, (database: Database) => Promise<unknown>][] = [
  ...RESPONSE_ORDERS.flatMap((order): [string, (database: Database) => Promise<unknown>][] => [
    [`responses ${order}`, responses({ order })],
    [`responses ${order} of a trend`, responses({ order, trendId: 5 })],
    [`responses ${order} from page 500`, responses({ order, offset: 9980 })],
  ]),
  ["responses since", responses({ since: 1, until: 2 })],
  ["responses updated", responses({ order: "asc:updated_at", updatedSince: 1, updatedUntil: 2 })],
  ["responses of a person", responses({ personId: 5 })],
  ["people", (database) => people(database).list(1, { ...open, after: null, limit: 20 })],
  [
    "people after",
    (database) => people(database).list(1, { since: 1, until: 9, after: { createdAt: 1, id: 2 }, limit: 20 }),
  ],
  ["one person", (database) => people(database).byEmail(1, "a@x.co")],
  ["one phone", (database) => people(database).byPhone(1, "+14155550100")],
  [
    "bounces",
    (database) => people(database).listEvents(1, "bounced_at", { since: 1, until: 2, offset: 100, limit: 20 }),
  ],
  ["unsubscribes", (database) => people(database).listEvents(1, "unsubscribed_at", { ...open, offset: 0, limit: 20 })],
  ["bounce count", (database) => people(database).countEvents(1, "bounced_at", open)],
  [
    "members",
    (database) =>
      new AutopilotRows(database, { now: 0, updatedAt: 0 }).list(1, "sms", {
        personId: null,
        after: { createdAt: 1, id: 2 },
        limit: 20,
      }),
  ],
  [
    "next due",
    (database) =>
      queue(database).nextDueAt([
        { channel: "email", withPaused: false },
        { channel: "reply", withPaused: true },
      ]),
  ],
  ["first due, paused or not", (database) => queue(database).nextDueAt([{ channel: "email", withPaused: true }])],
  [
    "projects with something due",
    (database) =>
      queue(database).dueProjects([
        { channel: "email", withPaused: false },
        { channel: "reply", withPaused: true },
      ]),
  ],
  [
    // Needs a due survey, because the claim goes from the project to its surveys.
    "claims",
    async (database) => {
      database.send("INSERT INTO projects (id, name, created_at) VALUES (1, 'default', 0)");
      database.send("INSERT INTO people (project_id, id, created_at) VALUES (1, 1, 0)");
      const configuration =
        "INSERT INTO autopilot_configurations VALUES (1, 'email', 1, 60, 0, 0, 'now', 'any', 'any', 0)";
      database.send(configuration);
      const request = { personId: 1, channel: "email", autopilot: false, createdAt: 0, scheduledAt: 0 } as const;
      const rows = requests(database);
      const claim = { project: 1, leaseSeconds: 60, limit: 10 } as const;
      await rows.insert(1, { ...request, paused: false, properties: {}, token: "t", unsubscribeToken: "u" });
      const [found] = await queue(database).listDue({ ...claim, claimer: "one", channel: "email" });
      await queue(database).claim(found!, { ...claim, claimer: "one", channel: "email" });
    },
  ],
  ["sent", (database) => requests(database).countSent(1, "email", { since: 1, until: 2 })],
  ...DELIVERY_STATES.map((state): [string, (database: Database) => Promise<unknown>] => [
    `deliveries that are ${state}`,
    (database) => deliveries(database).listBySchedule(1, { state }, duePage),
  ]),
  ["held reminders", (database) => deliveries(database).listBySchedule(1, HELD_REMINDERS, duePage)],
  [
    "held reminders of a person",
    (database) => deliveries(database).listBySchedule(1, { ...HELD_REMINDERS, personId: 5 }, duePage),
  ],
  ["held reminders of a day", (database) => deliveries(database).countBySchedule(1, HELD_REMINDERS, duePage)],
  ["deliveries of a day", (database) => deliveries(database).countBySchedule(1, { state: "sent" }, duePage)],
  [
    "deliveries that wait for a window",
    (database) =>
      deliveries(database).listBySchedule(
        1,
        { state: "scheduled", reason: "window", dueBy: 9 },
        { ...duePage, order: "asc" },
      ),
  ],
  ["what was not scheduled", (database) => unscheduled(database).list(1, { reason: "throttled" }, duePage)],
  ["what was not scheduled of a day", (database) => unscheduled(database).count(1, { reason: "throttled" }, duePage)],
  ["what was not scheduled of a person", (database) => unscheduled(database).ofPerson(1, 5, 20)],
  ["since when a project is paused", (database) => new SenderRows(database, { now: 9, updatedAt: 9 }).pausedSince(1)],
  ["deliveries of a person", (database) => deliveries(database).lastUnknownAt(1, 5)],
  ["attempts", (database) => deliveries(database).attempts(1, 5, 9)],
  ["an unsubscribe link", (database) => requests(database).byUnsubscribeToken("t")],
  ["a report's token", (database) => new ReportRows(database, { now: 9, updatedAt: 9 }).byToken("t")],
  ["a report's message", (database) => new ReportRows(database, { now: 9, updatedAt: 9 }).byMessageId("m@x.co")],
  ["a link", (database) => requests(database).byToken("t")],
  [
    "events that are due",
    (database) => webhooks(database).due({ project: { id: 1, name: "one" }, id: 2, format: "json" }, 20),
  ],
  ["when an event is due", (database) => webhooks(database).nextDueAt(1, 2)],
  ["a webhook's events", (database) => webhooks(database).deliveries(1, 2, { failed: false, before: 9, limit: 20 })],
  ["events that failed", (database) => webhooks(database).deliveries(1, 2, { failed: true, before: 9, limit: 20 })],
  ["events to send again", (database) => webhooks(database).redeliver(1, 2, { which: "failed" }, page)],
  ["events to send again since", (database) => webhooks(database).redeliver(1, 2, { which: "since", since: 5 }, page)],
  ["an event to send again", (database) => webhooks(database).redeliver(1, 2, { which: "event", eventId: "e" }, page)],
  ["whether there are webhooks", (database) => webhooks(database).any(1)],
  [
    "metrics",
    (database) =>
      responseRows(database).countScores(1, {
        ...open,
        trendId: null,
      }),
  ],
  ["responses by links", (database) => responseRows(database).countByLinks(1, { since: 1, until: 2, trendId: null })],
  ["responses by links of a trend", (database) => responseRows(database).countByLinks(1, { ...open, trendId: 5 })],
  [
    "metrics of a trend",
    (database) =>
      responseRows(database).countScores(1, {
        ...open,
        trendId: 5,
      }),
  ],
];

/**
 * Rows come from an index, in order. `k` is a page's keys, read from an index only. Scanning projects (`p`) and their
 * states (`s`) is fine, because there are few.
 */
const EXPECTED =
  /^SEARCH (?!responses USING INDEX)|^CO-ROUTINE k|^SCAN k$|^SCAN (?:p|s)(?: USING COVERING INDEX \w+)?$|^(?:CORRELATED )?SCALAR SUBQUERY/;
/** Sorting block counts is cheap: ten years have about a hundred. */
const ABOUT_COUNTS =
  /^(?:CO-ROUTINE|SCAN) (?:earliest|pieces|b|summed|\(subquery-\d+\))$|^(?:COMPOUND QUERY|LEFT-MOST SUBQUERY|UNION ALL)$/;
const isOfCounts = (step: string, at: number, plan: readonly string[]): boolean =>
  ABOUT_COUNTS.test(step) || (step === "USE TEMP B-TREE FOR ORDER BY" && plan[at - 1] === "SCAN summed");

describe("when a list is asked for, then an index finds it and keeps its order", () => {
  test.each(LISTS)("%s", async (_, work) => {
    const plans = await plansOf(work);
    expect(plans).not.toEqual([]);
    expect(plans.filter((step, at) => !EXPECTED.test(step) && !isOfCounts(step, at, plans))).toEqual([]);
  });

  test("a person's surveys and requests are found by the person, whatever their state or reason", async () => {
    const plans = await plansOf(async (database) => {
      await deliveries(database).listBySchedule(1, { state: "sent", personId: 5 }, duePage);
      await deliveries(database).countBySchedule(1, { state: "sent", personId: 5 }, duePage);
      await unscheduled(database).list(1, { reason: "throttled", personId: 5 }, duePage);
      await unscheduled(database).count(1, { reason: "throttled", personId: 5 }, duePage);
    });
    const found = plans.filter((step) => /^SEARCH [qu] /.test(step)).map((step) => /INDEX (\w+)/.exec(step)?.[1]);
    const [surveys, refused] = ["messages_by_person", "unscheduled_surveys_by_person"];
    expect(found).toEqual([surveys, surveys, refused, refused]);
  });

  test("a response that goes: its trends are found by it alone", async () => {
    const plans = await plansOf(async (database) => {
      database.send("INSERT INTO projects (id, name, created_at) VALUES (1, 'one', 0)");
      database.send("INSERT INTO people (project_id, id, created_at) VALUES (1, 5, 0)");
      database.send(
        `INSERT INTO responses (project_id, id, person_id, score, token, created_at, updated_at, person_properties)
         VALUES (1, 1, 5, 1, 't', 1, 1, '{}')`,
      );
      await new TrendRows(database, { now: 0, updatedAt: 0 }).leave(1, 1);
      await responseRows(database).delete(1, 1);
    });
    const trends = plans.filter((step) => step.includes("trend_responses"));
    const byResponse = /USING (?:COVERING )?INDEX trend_responses_by_response \(project_id=\? AND response_id=\?\)$/;
    expect(trends.filter((step) => !byResponse.test(step))).toEqual([]);
    // The third is SQLite's foreign key check.
    expect(trends).toHaveLength(3);
  });

  test("a response that came since a survey: among those of the person", async () => {
    const plans = await plansOf((database) => responseRows(database).haveCome(1, 5, 9, 1));
    expect(plans).toEqual(["SEARCH r USING INDEX responses_by_person (project_id=? AND person_id=?)"]);
  });

  test("responses updated since, in order of creation, when they are few: sorted, but only those", async () => {
    const plans = await plansOf(responses({ updatedSince: 1 }));
    expect(plans).toContain("SEARCH r USING COVERING INDEX responses_by_update (project_id=? AND updated_at>?)");
    expect(plans.filter((step) => /^SCAN (?!pieces)/.test(step))).toEqual(["SCAN k"]);
  });
});

test("when soft bounces are looked for, then neither all surveys nor all attempts are walked", async () => {
  const plans = await plansOf(async (database) => {
    const reports = new ReportRows(database, { now: 9, updatedAt: 9 });
    await reports.countSoft(1, 5, 5);
    await reports.listSoft(1, { after: 0, limit: 5, window: 5, least: 3 });
  });
  expect(plans.filter((step) => /^S\w+ [aqw]\b/.test(step))).toEqual([
    "SEARCH w USING INDEX sqlite_autoindex_people_1 (project_id=? AND id=?)",
    "SEARCH q USING INDEX messages_by_person (project_id=? AND person_id=?)",
    "SEARCH a USING PRIMARY KEY (project_id=? AND request_id=?)",
    "SEARCH a USING COVERING INDEX delivery_attempts_by_soft (project_id=?)",
    "SEARCH q USING INDEX sqlite_autoindex_messages_1 (project_id=? AND id=?)",
    "SEARCH w USING INDEX sqlite_autoindex_people_1 (project_id=? AND id=?)",
  ]);
});

test("when a survey is sent, then the person's next one is not looked for among all that wait", async () => {
  const plans = await plansOf(async (database) => {
    refreshNextSurvey({ ...database, send: (sql, values) => void database.all(sql, values) }, 1, 5);
    await requests(database).nextSingleAt(1, 5);
    await deliveries(database).lastUnknownAt(1, 5);
  });
  const surveys = plans.filter((step) => /^S\w+ (?:r|messages|m|a)\b/.test(step));
  expect(surveys).toEqual([
    "SEARCH r USING INDEX messages_by_person (project_id=? AND person_id=?)",
    "SEARCH messages USING INDEX messages_by_person (project_id=? AND person_id=?)",
    "SEARCH m USING INDEX messages_by_person (project_id=? AND person_id=?)",
    "SEARCH a USING PRIMARY KEY (project_id=? AND request_id=?)",
  ]);
});
