/** Numbered steps from an empty file to today's schema; each runs in a transaction of its own. */
import { emailKey } from "../../../../contract/text/email.ts";
import type { Database } from "../database.ts";
import { ADD_DELIVERIES, ADD_REPORTS, FIND_MISCOUNTED_STATES, giveUnsubscribeTokens } from "./delivery-schema.ts";
import { COUNT_NPS_ALONE, FIND_MISCOUNTS, KEEP_COUNTS } from "./list-blocks-schema.ts";
import { ADD_ERASURES, KEY_ERASED_SURVEYS, makeErasureSecret } from "./privacy-schema.ts";
import {
  ADD_DIGESTS,
  ADD_IMPORTED_PERMALINKS,
  ADD_KEY_LIVES,
  ADD_PROJECT_SETTINGS,
  ADD_SUPPRESSIONS,
  ADD_SURVEY_LINKS,
  CREATE_SCHEMA,
} from "./schema.ts";
import { ADD_PROCESSES, ADD_PROJECT_STATE } from "./state-schema.ts";
import { ADD_TEXTS } from "./text-schema.ts";
import { ADD_WEBHOOKS, FIND_MISCOUNTED_WEBHOOKS } from "./webhook-schema.ts";

export interface Migration {
  readonly version: number;
  readonly statements: readonly string[];
  /** What SQL alone cannot do; runs after the statements. */
  readonly run?: (database: Database) => Promise<void>;
}

/**
 * `clock` holds the newest time that a transaction has had. `erased_surveys` holds those whose messages may still lie
 * in an outbox after their person was deleted, until they are removed there.
 */
const CLOCK_AND_ERASURE = [
  "CREATE TABLE clock (newest_at INTEGER NOT NULL)",
  `INSERT INTO clock (newest_at) SELECT max(
    coalesce((SELECT max(updated_at) FROM responses), 0), coalesce((SELECT max(created_at) FROM people), 0))`,
  `CREATE TABLE erased_surveys (
    token TEXT NOT NULL PRIMARY KEY,
    project_id INTEGER NOT NULL,
    request_id INTEGER NOT NULL,
    channel TEXT NOT NULL
  )`,
  `CREATE TRIGGER erased_surveys_of_people AFTER DELETE ON survey_requests WHEN OLD.attempts > 0 BEGIN
    INSERT INTO erased_surveys (token, project_id, request_id, channel)
    VALUES (OLD.token, OLD.project_id, OLD.id, OLD.channel);
  END`,
];

/**
 * Marks of the whole store: `moved`, the place its data was moved to; `filling`, the command that fills it; `erasures`,
 * the log beside the file; `address`, the place that links lead to.
 */
const ADD_MARKS = "CREATE TABLE store_marks (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)";

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, statements: CREATE_SCHEMA },
  { version: 2, statements: ADD_SUPPRESSIONS },
  { version: 3, statements: [], run: renewEmailKeys },
  { version: 4, statements: CLOCK_AND_ERASURE },
  { version: 5, statements: KEEP_COUNTS },
  // `deleteRequests` notes erased surveys.
  { version: 6, statements: ["DROP TRIGGER erased_surveys_of_people"] },
  { version: 7, statements: ADD_DELIVERIES, run: giveUnsubscribeTokens },
  { version: 8, statements: ADD_PROJECT_SETTINGS },
  { version: 9, statements: ADD_REPORTS },
  { version: 10, statements: ADD_SURVEY_LINKS },
  { version: 11, statements: COUNT_NPS_ALONE },
  { version: 12, statements: ADD_WEBHOOKS },
  { version: 13, statements: ADD_PROJECT_STATE },
  { version: 14, statements: ADD_ERASURES, run: makeErasureSecret },
  { version: 15, statements: [ADD_MARKS] },
  { version: 16, statements: ADD_IMPORTED_PERMALINKS },
  { version: 17, statements: ADD_TEXTS },
  { version: 18, statements: ADD_PROCESSES },
  { version: 19, statements: ADD_DIGESTS },
  { version: 20, statements: KEY_ERASED_SURVEYS },
  { version: 21, statements: ADD_KEY_LIVES },
];

/**
 * Addresses are compared in Unicode's composed form, with only ASCII letters folded before the `@`. Where that makes
 * two people one, the key stays with the one who has it, and the other keeps an older key.
 */
async function renewEmailKeys(database: Database): Promise<void> {
  const people = await database.all(
    "SELECT project_id, id, email FROM people WHERE email GLOB '*[^ -~]*' ORDER BY 1, 2",
  );
  for (const { project_id: project = null, id = null, email } of people) {
    const key = emailKey(String(email));
    await database.run("UPDATE OR IGNORE people SET email_key = ? WHERE project_id = ? AND id = ?", [key, project, id]);
  }
}

/** The tables, indexes and triggers that these migrations leave behind. */
export function namesOf(migrations: readonly Migration[]): ReadonlySet<string> {
  const expected = new Set<string>();
  for (const statement of migrations.flatMap(({ statements }) => statements)) {
    const [, verb, name = ""] =
      /^\s*(CREATE|DROP)\s+(?:UNIQUE\s+)?(?:TABLE|INDEX|TRIGGER)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(\w+)/i.exec(
        statement,
      ) ?? [];
    const [, from = "", to = ""] = /^\s*ALTER\s+TABLE\s+(\w+)\s+RENAME\s+TO\s+(\w+)/i.exec(statement) ?? [];
    if (verb?.toUpperCase() === "CREATE") expected.add(name);
    else if (verb !== undefined) expected.delete(name);
    else if (expected.delete(from)) expected.add(to);
  }
  return expected;
}

/** Each names the kept counts that are wrong, as `project_id` and `list`. */
export const FIND_MISCOUNTED: readonly string[] = [FIND_MISCOUNTS, FIND_MISCOUNTED_STATES, FIND_MISCOUNTED_WEBHOOKS];
