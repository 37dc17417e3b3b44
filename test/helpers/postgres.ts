/** A PostgreSQL cluster in a temporary folder, with a new database for each caller. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client, type QueryResult } from "pg";
import { systemClock } from "../../src/runtime/clock.ts";
import { openPostgresStore } from "../../src/service/store/postgres/open-postgres-store.ts";

const DEBIAN = "/usr/lib/postgresql";

/** `.ci/test-postgres` sets the variable. */
function findBinaries(): string | null {
  const chosen = process.env["SURVEYCTL_TEST_POSTGRES_BIN"];
  if (chosen !== undefined) return chosen;
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((one, other) => Number(other) - Number(one)) : [];
  const folders = [
    ...versions.map((version) => path.join(DEBIAN, version, "bin")),
    ...(process.env["PATH"] ?? "").split(path.delimiter),
  ];
  return folders.find((folder) => existsSync(path.join(folder, "initdb"))) ?? null;
}

const BINARIES = findBinaries();

export const hasPostgres = BINARIES !== null;

/** True if this run tests the service on PostgreSQL instead of data files. */
export const onPostgres = process.env["SURVEYCTL_TEST_ENGINE"] === "postgres";

export const serverProgram = (name: string): string => path.join(BINARIES ?? "", name);

/** The npm registry's builds have no client programs such as pg_dump. */
export const hasProgram = (name: string): boolean => existsSync(serverProgram(name));

/** `initdb` refuses to run as root. */
function asServer(program: string, ...args: readonly string[]): void {
  const command = [serverProgram(program), ...args];
  const isRoot = process.getuid?.() === 0;
  const [first = "", ...rest] = isRoot ? ["runuser", "-u", "postgres", "--", ...command] : command;
  const { status, stderr, stdout } = spawnSync(first, rest, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program}: ${stderr}${stdout}`);
}

export interface Cluster {
  readonly folder: string;
  readonly port: number;
  readonly url: (database: string) => string;
  readonly start: () => void;
  readonly stop: (mode?: "fast" | "immediate") => void;
}

/**
 * Starts a cluster that is removed soon after this process ends. Tests that kill it set `isDurable`. `settings` are
 * flags of `postgres`.
 */
export function startCluster({ isDurable = false, port = 5432, settings = "" } = {}): Cluster {
  const folder = makeFolder();
  const data = path.join(folder, "data");
  asServer("initdb", "-D", data, "-A", "trust", "-E", "UTF8", "--locale=C", "-U", "postgres", "--no-sync");
  const speed = isDurable ? "" : "-c fsync=off -c synchronous_commit=off -c full_page_writes=off";
  return startIn(folder, { data, port, settings: `-c autovacuum=off ${speed} ${settings}` });
}

export interface Standby extends Cluster {
  readonly promote: () => void;
}

/** A synchronous standby: from now on `primary` only acknowledges what both have. */
export async function startStandby(primary: Cluster): Promise<Standby> {
  const folder = makeFolder();
  const data = path.join(folder, "data");
  const from = ["-h", primary.folder, "-p", String(primary.port), "-U", "postgres"];
  asServer("pg_basebackup", ...from, "-D", data, "-R", "--checkpoint=fast", "--no-sync");
  const standby = startIn(folder, { data, port: primary.port, settings: "" });
  await administer(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await administer(primary, "SELECT pg_reload_conf()");
  return { ...standby, promote: () => asServer("pg_ctl", "-D", data, "-w", "promote") };
}

function makeFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "surveyctl-pg-"));
  if (process.getuid?.() === 0) execFileSync("chown", ["postgres", folder]);
  return folder;
}

function startIn(
  folder: string,
  { data, port, settings }: { readonly data: string; readonly port: number; readonly settings: string },
): Cluster {
  const options = `-c listen_addresses='' -k ${folder} -p ${port} -c max_connections=200 ${settings}`;
  const start = (): void =>
    asServer("pg_ctl", "-D", data, "-l", path.join(folder, "log"), "-w", "-o", options, "start");
  const stop = (mode: "fast" | "immediate" = "immediate"): void => asServer("pg_ctl", "-D", data, "-m", mode, "stop");
  start();
  removeWhenDone(folder, data);
  return {
    folder,
    port,
    url: (database) => `postgres:///${database}?host=${folder}&port=${port}&user=postgres`,
    start,
    stop,
  };
}

/** A killed worker runs no exit handlers. */
function removeWhenDone(folder: string, data: string): void {
  const script = `while kill -0 ${process.pid}; do sleep 1; done
kill -QUIT "$(head -n 1 '${data}/postmaster.pid')"; sleep 1; rm -rf '${folder}'`;
  spawn("sh", ["-c", script], { detached: true, stdio: "ignore" }).unref();
}

const shared = { cluster: null as Cluster | null, count: 0, template: null as Promise<Template> | null };

export async function newDatabase(encoding = "UTF8"): Promise<string> {
  return createDatabase(encoding === "UTF8" ? "template1" : `template0 ENCODING '${encoding}'`);
}

async function createDatabase(template: string): Promise<string> {
  shared.cluster ??= startCluster();
  shared.count += 1;
  const name = `t${process.pid}_${shared.count}`;
  await administer(shared.cluster, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return shared.cluster.url(name);
}

interface Template {
  readonly name: string;
  readonly reset: string;
}

/** Deleting the rows takes a twentieth of the time of a new copy. */
const unused: { readonly url: string; readonly client: Client }[] = [];

export interface LentDatabase {
  readonly url: string;
  /** Lets another test use it; open connections must be idle. */
  readonly giveBack: () => void;
}

/** A database with the schema and no rows. */
export async function lendDatabase(): Promise<LentDatabase> {
  const { name, reset } = await (shared.template ??= makeTemplate());
  const known = unused.pop();
  const url = known?.url ?? (await createDatabase(name));
  const client = known?.client ?? (await connect(url));
  if (known !== undefined) await client.query(reset);
  return { url, giveBack: () => void unused.push({ url, client }) };
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  // The test may stop the server.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

async function makeTemplate(): Promise<Template> {
  const url = await createDatabase("template1");
  await (await openPostgresStore({ url, clock: systemClock })).close();
  const client = await connect(url);
  const { rows } = await client.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  const parts = ["SET session_replication_role = replica"];
  await client.query("CREATE SCHEMA fresh");
  for (const { name } of rows) {
    const { rowCount } = await client.query(`CREATE TABLE fresh.${name} AS TABLE ${name}`);
    parts.push(`DELETE FROM ${name}`, ...(rowCount === 0 ? [] : [`INSERT INTO ${name} TABLE fresh.${name}`]));
  }
  await client.end();
  return { name: new URL(url).pathname.slice(1), reset: parts.join("; ") };
}

const kept = new Map<string, Promise<string>>();

/** Returns the same database for the same file name, or null if the run tests data files. */
export async function databaseOf(file: string | null, isServer = onPostgres): Promise<LentDatabase | null> {
  if (!isServer) return null;
  if (file === null) return lendDatabase();
  const url = kept.get(file) ?? lendDatabase().then((lent) => lent.url);
  kept.set(file, url);
  return { url: await url, giveBack: () => undefined };
}

export async function administer({ url }: Cluster, sql: string): Promise<QueryResult> {
  const client = new Client({ connectionString: url("postgres") });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}
