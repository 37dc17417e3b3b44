/**
 * In a separate process: creates a data file with this many people and responses, one in six in a trend. Arguments:
 * data file, rows, now in Unix seconds, days that the rows span (three years by default).
 */
import { createDatabase } from "../../src/service/store/sqlite/engine/database.ts";
import { openEngine } from "../../src/service/store/sqlite/engine/engine.ts";
import { COUNT_ALL } from "../../src/service/sql/lists/recount.ts";
import { migrate } from "../../src/service/store/sqlite/engine/migrate.ts";

const [file = "", rowsText = "", nowText = "", days = "1095"] = process.argv.slice(2);
const [rows, now] = [Number(rowsText), Number(nowText)];
const SPAN = Number(days) * 86_400;
const first = now - SPAN;

const database = createDatabase(await openEngine(file));
for (const pragma of ["locking_mode = EXCLUSIVE", "journal_mode = OFF", "synchronous = OFF", "foreign_keys = OFF"])
  database.exec(`PRAGMA ${pragma}`);
await migrate(database, now);

const counted = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${rows})`;
const createdAt = `${first} + i * ${SPAN} / ${rows}`;
const fill: readonly string[] = [
  "BEGIN",
  `INSERT INTO projects (id, name, created_at, throttle_seconds) VALUES (1, 'default', ${first}, 86400)`,
  `INSERT INTO project_state VALUES (1, ${3 * rows}, ${first}, 0)`,
  `INSERT INTO autopilot_configurations (project_id, platform, active, frequency, created_at, updated_at, first, days, hours)
    VALUES (1, 'email', 1, 86400, ${first}, ${first}, 'now', 'any', 'any'),
           (1, 'sms', 1, 86400, ${first}, ${first}, 'now', 'any', 'any')`,
  `${counted} INSERT INTO people (project_id, id, email, email_key, name, created_at)
    SELECT 1, 1 + i, 'person' || i || '@example.com', 'person' || i || '@example.com', 'Ada', ${createdAt} FROM n`,
  `${counted} INSERT INTO responses (project_id, id, person_id, score, comment, token, created_at, updated_at, person_properties)
    SELECT 1, 1 + ${rows} + i, 1 + i, i * 7919 % 11, 'Works every day for us.', 'token' || i, ${createdAt},
      ${createdAt} + CASE i % 10 WHEN 4 THEN i % 977 * 7 ELSE 0 END,
      CASE i % 6 WHEN 0 THEN '{"plan":"pro","region":"EMEA"}' ELSE '{"plan":"free","region":"EMEA"}' END
    FROM n`,
  `INSERT INTO trends (project_id, id, name, created_at) VALUES (1, ${3 * rows - 1}, 'pro', ${now})`,
  `INSERT INTO trend_conditions VALUES (1, ${3 * rows - 1}, 'plan', 'pro')`,
  `INSERT INTO trend_responses SELECT 1, ${3 * rows - 1}, id, created_at, updated_at, score, survey_type FROM responses
    WHERE person_properties LIKE '{"plan":"pro"%'`,
  ...COUNT_ALL,
  "COMMIT",
];
for (const statement of fill) database.exec(statement);
database.close();
