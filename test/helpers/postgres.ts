/** A PostgreSQL of the tests' own: a cluster in a temporary folder, and for each caller a new database in it. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client, type QueryResult } from "pg";

const DEBIAN = "/usr/lib/postgresql";

/** Where the programs of a server are; null where none is installed. */
function findBinaries(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((one, other) => Number(other) - Number(one)) : [];
  const folders = [
    ...versions.map((version) => path.join(DEBIAN, version, "bin")),
    ...(process.env["PATH"] ?? "").split(path.delimiter),
  ];
  return folders.find((folder) => existsSync(path.join(folder, "initdb"))) ?? null;
}

const BINARIES = findBinaries();

/** Whether the tests of this engine can run. */
export const hasPostgres = BINARIES !== null;

/** `initdb` refuses root. */
function asServer(program: string, ...args: readonly string[]): void {
  const command = [path.join(BINARIES ?? "", program), ...args];
  const isRoot = process.getuid?.() === 0;
  const [first = "", ...rest] = isRoot ? ["runuser", "-u", "postgres", "--", ...command] : command;
  const { status, stderr, stdout } = spawnSync(first, rest, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program}: ${stderr}${stdout}`);
}

export interface Cluster {
  readonly folder: string;
  readonly port: number;
  /** Of a database in it. */
  readonly url: (database: string) => string;
  readonly start: () => void;
  readonly stop: (mode?: "fast" | "immediate") => void;
}

/** A cluster that is gone when this process ends; `isDurable` for tests that kill it. */
export function startCluster({ isDurable = false, port = 5432 } = {}): Cluster {
  const folder = mkdtempSync(path.join(tmpdir(), "surveyctl-pg-"));
  if (process.getuid?.() === 0) execFileSync("chown", ["postgres", folder]);
  const data = path.join(folder, "data");
  asServer("initdb", "-D", data, "-A", "trust", "-E", "UTF8", "--locale=C", "-U", "postgres", "--no-sync");
  const settings = [
    `-c listen_addresses='' -k ${folder} -p ${port} -c max_connections=200`,
    isDurable ? "" : "-c fsync=off -c synchronous_commit=off -c full_page_writes=off",
  ];
  const start = (): void =>
    asServer("pg_ctl", "-D", data, "-l", path.join(folder, "log"), "-w", "-o", settings.join(" "), "start");
  const stop = (mode: "fast" | "immediate" = "immediate"): void => asServer("pg_ctl", "-D", data, "-m", mode, "stop");
  start();
  process.once("exit", () => {
    try {
      stop();
    } catch {
      // A test has stopped it already.
    }
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    port,
    url: (database) => `postgres:///${database}?host=${folder}&port=${port}&user=postgres`,
    start,
    stop,
  };
}

const shared: { cluster: Cluster | null; count: number } = { cluster: null, count: 0 };

/** Of a cluster that all tests of this process share. */
export async function newDatabase(): Promise<string> {
  shared.cluster ??= startCluster();
  shared.count += 1;
  const name = `t${process.pid}_${shared.count}`;
  await administer(shared.cluster, `CREATE DATABASE ${name}`);
  return shared.cluster.url(name);
}

/** Runs a command on a cluster's own database. */
export async function administer({ url }: Cluster, sql: string): Promise<QueryResult> {
  const client = new Client({ connectionString: url("postgres") });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}
