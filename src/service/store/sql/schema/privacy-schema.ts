/** What stays of people who were erased, so that no restore or import brings them back: hashes alone. */
import { systemRandom } from "../../../../runtime/random.ts";
import type { Database } from "../database.ts";

/**
 * `erasures` has a keyed hash for each address and id that was erased. `erased_links` has hashes of the tokens of `/u/`,
 * with the hash that suppresses the address. `upkeep_state` says what is left to do, as JSON.
 */
export const ADD_ERASURES: readonly string[] = [
  `CREATE TABLE erasures (
    project_id INTEGER NOT NULL REFERENCES projects (id),
    hash TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (project_id, hash)
  ) WITHOUT ROWID`,
  `CREATE TABLE erased_links (
    project_id INTEGER NOT NULL REFERENCES projects (id),
    hash TEXT NOT NULL,
    channel TEXT NOT NULL,
    address_hash TEXT NOT NULL,
    PRIMARY KEY (project_id, hash)
  ) WITHOUT ROWID`,
  "CREATE INDEX erased_links_by_hash ON erased_links (hash)",
  "CREATE INDEX erased_links_by_address ON erased_links (project_id, address_hash)",
  "CREATE TABLE upkeep_state (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
];

const SECRET_BYTES = 32;

/** Made with the schema, so that every backup from then on has the same: what one erases, the other knows. */
export async function makeErasureSecret(database: Database): Promise<void> {
  await database.run("INSERT INTO store_secrets (name, value) VALUES ('erasure', ?)", [
    systemRandom.token(SECRET_BYTES),
  ]);
}

/** The project leads the key, as in every table that grows. */
export const KEY_ERASED_SURVEYS: readonly string[] = [
  `CREATE TABLE erased_surveys_anew (
    project_id INTEGER NOT NULL,
    token TEXT NOT NULL,
    request_id INTEGER NOT NULL,
    channel TEXT NOT NULL,
    PRIMARY KEY (project_id, token)
  )`,
  `INSERT INTO erased_surveys_anew (project_id, token, request_id, channel)
   SELECT project_id, token, request_id, channel FROM erased_surveys`,
  "DROP TABLE erased_surveys",
  "ALTER TABLE erased_surveys_anew RENAME TO erased_surveys",
];
