/**
 * Baseline for importing history, in a separate process: parses NDJSON and inserts the rows with the same library,
 * schema and rows per commit. Arguments: data file, people, responses.
 */
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { createDatabase } from "../../src/service/store/sqlite/engine/database.ts";
import { openEngine } from "../../src/service/store/sqlite/engine/engine.ts";
import { migrate } from "../../src/service/store/sqlite/engine/migrate.ts";

const [file = "", people = "", responses = ""] = process.argv.slice(2);
const BATCH = 1000;
const NOW = 1_700_000_000;

interface Row {
  readonly [name: string]: unknown;
  readonly id: string;
  readonly created_at: number;
}

const engine = await openEngine(file);
const database = createDatabase(engine);
for (const pragma of ["locking_mode = EXCLUSIVE", "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"])
  database.exec(`PRAGMA ${pragma}`);
database.exec("PRAGMA cache_size = -32768");
database.exec("PRAGMA wal_autocheckpoint = 4000");
await migrate(database, NOW);
database.exec(`INSERT INTO projects (id, name, created_at) VALUES (1, 'default', ${NOW})`);
const insertPerson = engine.prepare(
  "INSERT INTO people (project_id, id, email, email_key, name, created_at, last_sent_at) VALUES (1, ?, ?, ?, ?, ?, ?)",
);
const insertResponse = engine.prepare(
  `INSERT INTO responses (project_id, id, person_id, survey_type, score, comment, token, created_at, updated_at,
     person_properties, tags, additional_answers, notes, note_ids) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);

async function insertAll(name: string, insert: (row: Row) => void): Promise<void> {
  let rows = 0;
  database.exec("BEGIN");
  for await (const line of createInterface({ input: createReadStream(name) })) {
    insert(JSON.parse(line) as Row);
    rows += 1;
    if (rows % BATCH === 0) database.exec("COMMIT; BEGIN");
  }
  database.exec("COMMIT");
}

await insertAll(people, (row) => {
  const email = String(row.email);
  const at = [row.created_at, Number(row.last_sent_at)];
  insertPerson.run([Number(row.id), email, email.toLowerCase(), String(row.name), ...at]);
});
await insertAll(responses, (row) => {
  const { id, person, survey_type: type, score, comment, created_at: createdAt, updated_at: updatedAt } = row;
  const token = randomBytes(16).toString("base64url");
  const texts = [row.person_properties, row.tags, row.additional_answers, row.notes].map((each) =>
    JSON.stringify(each),
  );
  const said = comment === null ? null : JSON.stringify(comment);
  const values = [Number(id), Number(person), String(type), Number(score), said, token, createdAt, Number(updatedAt)];
  insertResponse.run([...values, ...texts, "[]"]);
});
database.close();
