import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { LIFE_SECONDS } from "../../../../src/service/domain/delivery/living.ts";
import { sendPerson } from "../../../../src/service/domain/people/people.ts";
import { addProject } from "../../../../src/service/domain/projects/projects.ts";
import type { Store } from "../../../../src/service/domain/ports.ts";
import { createBaseline, TABLES } from "../../../../src/service/sql/schema/baseline.ts";
import { MIGRATIONS, VERSIONS_TABLE } from "../../../../src/service/sql/schema/migrations.ts";
import { DISTRIBUTED } from "../../../../src/service/store/postgres/distribute.ts";
import { openPostgresStore } from "../../../../src/service/store/postgres/open-postgres-store.ts";
import { administer, type Cluster, hasPostgres, newDatabase, startCluster } from "../../../helpers/postgres.ts";
import { runCli } from "../../../helpers/run-cli.ts";
import { sendInput } from "../../domain/fixture.ts";

const POSTGRES = { engine: "postgresql", int: "BIGINT", text: "TEXT", behind: () => "" } as const;
const isDistributed = (name: string): boolean => DISTRIBUTED.includes(name);

test("keys and foreign keys of distributed tables begin with the project, and nothing has a trigger", () => {
  const faults = TABLES.filter(({ name }) => isDistributed(name)).flatMap(
    ({ name, key, references = [], indexes = {} }) => [
      ...(/^project_id\b/.test(key) ? [] : [`${name}: ${key}`]),
      ...references
        .filter((one) => !/^\(project_id(?:, \w+)*\) REFERENCES \w+ \((?:id\)|project_id,)/.test(one))
        .map((one) => `${name}: ${one}`),
      ...Object.values(indexes)
        .filter((one) => /^UNIQUE (?!\(project_id\b)/.test(one))
        .map((one) => `${name}: ${one}`),
    ],
  );
  expect(faults).toEqual([]);
  const statements = [...createBaseline(POSTGRES), ...MIGRATIONS.flatMap((one) => one.statements(POSTGRES))];
  expect(statements.filter((text) => /^CREATE (?:TRIGGER|RULE|FUNCTION|SEQUENCE)/.test(text))).toEqual([]);
});

test("other tables refer to none that is distributed, and few rows of theirs are needed on every node", () => {
  const copied = TABLES.filter(({ name }) => !isDistributed(name));
  expect(copied.flatMap(({ references = [] }) => references).map((one) => / REFERENCES (\w+)/.exec(one)?.[1])).toEqual([
    "projects",
  ]);
  expect(copied.map(({ name }) => name).toSorted()).toEqual([
    "api_keys",
    "delivery_reports",
    "delivery_state",
    "processes",
    "projects",
    "store_marks",
    "store_secrets",
    "text_parts",
    "upkeep_state",
  ]);
});

/**
 * Stubs of the Citus functions that enforce the rules that matter here. They move no rows; what a cluster stores is
 * only tested if Citus is installed.
 */
const STAND_IN = `CREATE SCHEMA standin;
  CREATE VIEW standin.pg_extension AS SELECT name AS extname FROM (VALUES ('citus')) AS known (name);
  CREATE TABLE standin.pg_dist_partition (logicalrelid regclass, partmethod "char", repmodel "char");
  CREATE TABLE standin.emptied (logicalrelid regclass);
  CREATE FUNCTION standin.refuse(one regclass) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    IF current_setting('citus.multi_shard_modify_mode') <> 'sequential' THEN RAISE 'not sequential'; END IF;
    IF EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = one) THEN RAISE '% has a trigger or foreign key', one; END IF;
    IF EXISTS (SELECT 1 FROM standin.pg_dist_partition WHERE logicalrelid = one) THEN RAISE '% is distributed', one; END IF;
  END $$;
  CREATE FUNCTION standin.create_distributed_table(one regclass, by text, colocate_with text) RETURNS void
  LANGUAGE plpgsql AS $$ BEGIN
    PERFORM standin.refuse(one);
    IF colocate_with <> 'none' AND NOT EXISTS (SELECT 1 FROM standin.pg_dist_partition
      WHERE logicalrelid = colocate_with::regclass AND partmethod = 'h') THEN RAISE 'no group of %', colocate_with; END IF;
    IF EXISTS (SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = one AND a.attnum = i.indkey[0]
      WHERE i.indrelid = one AND i.indisunique AND a.attname <> by) THEN RAISE '% has another key', one; END IF;
    INSERT INTO standin.pg_dist_partition VALUES (one, 'h', 's');
  END $$;
  CREATE FUNCTION standin.create_reference_table(one regclass) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    PERFORM standin.refuse(one);
    INSERT INTO standin.pg_dist_partition VALUES (one, 'n', 't');
  END $$;
  CREATE FUNCTION standin.truncate_local_data_after_distributing_table(one regclass) RETURNS void
  LANGUAGE sql AS $$ INSERT INTO standin.emptied VALUES (one) $$;
  DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, standin, pg_catalog', current_database()); END $$`;

const KEYS = `SELECT conrelid::regclass::text || ' ' || conname || ' ' || pg_get_constraintdef(oid) AS text
  FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace ORDER BY 1`;
const PARTS = `SELECT logicalrelid::text || ' ' || partmethod::text AS text FROM pg_dist_partition
  WHERE partmethod = 'h' OR repmodel = 't' ORDER BY 1`;

async function ask(url: string, sql: string): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const results = [await client.query<{ text: string }>(sql)].flat();
    return results.flatMap(({ rows }) => rows).map(({ text }) => text);
  } finally {
    await client.end();
  }
}

const open = (url: string): Promise<Store> => openPostgresStore({ url, clock: systemClock, random: systemRandom });

async function fill(url: string): Promise<void> {
  const store = await open(url);
  for (const name of ["one", "two"]) {
    const project = await store.write((tx) => addProject(tx, name), { project: "all" });
    const input = sendInput({ email: `ada@${name}.example`, delaySeconds: 86_400 });
    await store.write((tx) => sendPerson(tx, project, input), { project: project.id });
  }
  await store.close();
}

const COUNTS = `SELECT (SELECT count(*) FROM projects) || ' ' || (SELECT count(*) FROM people) || ' ' ||
  (SELECT count(*) FROM messages) || ' ' || (SELECT count(*) FROM project_state) AS text`;

const ALL = [
  ...DISTRIBUTED.map((name) => `${name} h`),
  ...TABLES.filter(({ name }) => !isDistributed(name)).map(({ name }) => `${name} n`),
  `${VERSIONS_TABLE} n`,
].toSorted();
const DONE = `${DISTRIBUTED.length} tables are distributed by project, and every node has ${ALL.length - DISTRIBUTED.length} others.\n`;
const distribute = (url: string) => runCli({ args: ["service", "migrate", "--distribute", "--database", url] });

async function newStandIn(): Promise<string> {
  const url = await newDatabase();
  await ask(url, STAND_IN);
  return url;
}

describe.skipIf(!hasPostgres)("service migrate --distribute", () => {
  test("without Citus it is refused, and no table is made", async () => {
    const url = await newDatabase();
    expect(await distribute(url)).toMatchObject({
      status: 1,
      stderr:
        "error: the database has no Citus; install it on every node and run CREATE EXTENSION citus in the database first\n",
    });
    expect(await ask(url, "SELECT tablename AS text FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
  });

  test("a data file is refused", async () => {
    const { status, stderr } = await runCli({ args: ["service", "migrate", "--distribute", "--data", "survey.db"] });
    expect([status, stderr]).toEqual([2, "error: --distribute needs a database: use --database or --database-file\n"]);
  });

  test("while a server runs it is refused, and nothing is distributed", async () => {
    const url = await newStandIn();
    await fill(url);
    const store = await open(url);
    await store.write((tx) => tx.queue.beat("server", LIFE_SECONDS), { project: "none" });
    const refused = await distribute(url);
    await store.write((tx) => tx.queue.leave("server"), { project: "none" });
    await store.close();
    expect([refused.status, refused.stderr, await ask(url, PARTS)]).toEqual([
      2,
      expect.stringContaining("is served, or was within the last 30 seconds; stop its process first") as string,
      [],
    ]);
  });

  test("a database with rows is distributed, with its foreign keys, once", async () => {
    const url = await newStandIn();
    await fill(url);
    const [keys, counts] = [await ask(url, KEYS), await ask(url, COUNTS)];
    expect(keys.length).toBeGreaterThan(25);
    for (let run = 0; run < 2; run += 1) {
      const { status, stderr } = await distribute(url);
      expect([status, stderr]).toEqual([0, `${url}: ${DONE}`]);
      expect(await ask(url, PARTS)).toEqual(ALL);
      expect([await ask(url, KEYS), await ask(url, COUNTS)]).toEqual([keys, counts]);
      expect(await ask(url, "SELECT count(*)::text AS text FROM standin.emptied")).toEqual([String(ALL.length)]);
      expect(await ask(url, "SELECT current_setting('citus.multi_shard_modify_mode') AS text")).toEqual(["sequential"]);
    }
  });

  test("a table that a later version adds is distributed by another run", async () => {
    const url = await newStandIn();
    await distribute(url);
    await ask(url, "DELETE FROM standin.pg_dist_partition WHERE logicalrelid IN ('digests'::regclass, 'messages')");
    // Only this table's foreign keys are dropped, so none may refer to it.
    await ask(url, "ALTER TABLE delivery_attempts DROP CONSTRAINT delivery_attempts_project_id_request_id_fkey");
    expect([(await distribute(url)).status, await ask(url, PARTS)]).toEqual([0, ALL]);
  });

  test("a failure leaves everything as it was", async () => {
    const url = await newStandIn();
    await fill(url);
    const keys = await ask(url, KEYS);
    await ask(
      url,
      `CREATE FUNCTION public.noop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
       CREATE TRIGGER foreign_one AFTER INSERT ON webhooks EXECUTE FUNCTION public.noop()`,
    );
    const { status, stderr } = await distribute(url);
    expect([status, stderr]).toEqual([1, "error: nothing was distributed: webhooks has a trigger or foreign key\n"]);
    expect([await ask(url, KEYS), await ask(url, PARTS)]).toEqual([keys, []]);
  });

  test("a user who doesn't own the database is told what its owner must run", async () => {
    const url = await newStandIn();
    await ask(
      url,
      `CREATE ROLE worker LOGIN; GRANT CREATE ON SCHEMA public TO worker; GRANT USAGE ON SCHEMA standin TO worker;
       GRANT ALL ON ALL TABLES IN SCHEMA standin TO worker`,
    );
    const { status, stderr } = await distribute(url.replace("user=postgres", "user=worker"));
    const name = new URL(url).pathname.slice(1);
    expect([status, stderr.split("\n")[1]]).toEqual([
      0,
      `warning: citus.multi_shard_modify_mode was not set; as the database's owner, run: ALTER DATABASE ${name} SET citus.multi_shard_modify_mode = 'sequential'`,
    ]);
  });
});

describe.skipIf(!hasPostgres)("Citus", () => {
  test("a database with rows is distributed, nothing of it stays behind, and the service goes on", async ({ skip }) => {
    const known = await ask(
      await newDatabase(),
      "SELECT name AS text FROM pg_available_extensions WHERE name = 'citus'",
    );
    skip(known.length === 0, "Citus is not installed");
    const cluster = startCitus();
    await administer(cluster, "CREATE DATABASE surveys");
    const url = cluster.url("surveys");
    await ask(url, "CREATE EXTENSION citus");
    await ask(url, `SELECT citus_set_coordinator_host('${cluster.folder}', ${cluster.port})::text AS text`);
    await ask(
      url,
      `SELECT citus_set_node_property('${cluster.folder}', ${cluster.port}, 'shouldhaveshards', true)::text AS text`,
    );
    await fill(url);
    const [keys, counts] = [await ask(url, KEYS), await ask(url, COUNTS)];
    expect(await distribute(url)).toMatchObject({ status: 0, stderr: `${url}: ${DONE}` });
    expect(await ask(url, PARTS)).toEqual(ALL);
    expect([(await ask(url, KEYS)).filter((key) => keys.includes(key)), await ask(url, COUNTS)]).toEqual([
      keys,
      counts,
    ]);
    expect(await ask(url, "SELECT pg_relation_size('people')::text AS text")).toEqual(["0"]);
    const store = await open(url);
    const project = await store.write((tx) => addProject(tx, "three"), { project: "all" });
    await store.write((tx) => sendPerson(tx, project, sendInput({ email: "ada@three.example", delaySeconds: 60 })), {
      project: project.id,
    });
    expect(await store.check()).toEqual([]);
    await store.close();
    expect(await ask(url, COUNTS)).toEqual(["3 3 3 4"]);
    cluster.stop();
  });
});

function startCitus(): Cluster {
  const settings = "-c shared_preload_libraries=citus -c wal_level=logical -c max_prepared_transactions=100";
  return startCluster({
    port: 5440,
    settings: `${settings} -c citus.shard_count=2 -c citus.node_conninfo=sslmode=disable`,
  });
}
