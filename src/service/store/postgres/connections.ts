import { statSync } from "node:fs";
import { Pool, type PoolClient, type PoolConfig, types } from "pg";
import { GIVEN_FILE_MAX } from "../../../runtime/pipe-reader.ts";
import type { SqlValue } from "../../sql/database.ts";
import { StoreDatabaseError } from "../store-errors.ts";
import { databaseUrlProblem } from "../database-url.ts";

export interface DatabaseTarget {
  readonly config: PoolConfig;
  /** False for old poolers in transaction mode, which lose prepared statements. */
  readonly isPrepared: boolean;
  readonly shown: string;
}

const MAX = 10;
const CONNECT_MS = 5_000;

/** Reads `postgres://…?prepare=off&max=10`; `insecure=on` allows remote servers without TLS. */
export function readTarget(url: string): DatabaseTarget {
  const problem = databaseUrlProblem(url);
  if (problem !== null) throw new StoreDatabaseError("unsupported", `database URL: ${problem}`);
  const parsed = new URL(url);
  // The driver reads these files completely and can't be interrupted, so pipes and large files are refused.
  for (const name of ["sslrootcert", "sslcert", "sslkey"]) {
    const file = parsed.searchParams.get(name);
    const found = file === null ? undefined : statSync(file, { throwIfNoEntry: false });
    if (found !== undefined && (!found.isFile() || found.size > GIVEN_FILE_MAX))
      throw new StoreDatabaseError("unsupported", `database URL: ${name} is not a file of at most 1 MiB`);
  }
  const isPrepared = parsed.searchParams.get("prepare") !== "off";
  const max = Number(parsed.searchParams.get("max") ?? MAX);
  for (const name of ["prepare", "max", "insecure"]) parsed.searchParams.delete(name);
  const config = {
    connectionString: parsed.href,
    max,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: "surveyctl",
    keepAlive: true,
    pipeline: true,
    types: { getTypeParser: columnParser as GetTypeParser },
  };
  return { config, isPrepared, shown: redact(parsed) };
}

function redact(url: URL): string {
  const shown = new URL(url);
  if (shown.password !== "") shown.password = "***";
  shown.search = "";
  return shown.href;
}

const INT8 = 20;
const NUMERIC = 1700;

type GetTypeParser = NonNullable<PoolConfig["types"]>["getTypeParser"];

/** Parses 64-bit columns as numbers, because ours have at most 53 bits. The driver's global parsers are shared. */
function columnParser(oid: number): (text: string) => SqlValue {
  return oid === INT8 || oid === NUMERIC ? Number : (types.getTypeParser(oid, "text") as (text: string) => SqlValue);
}

export function openPool({ config }: DatabaseTarget): Pool {
  const pool = new Pool(config);
  // The failing query reports the error, but without a listener the event would end the process.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => void client.on("error", () => undefined));
  return pool;
}

/** Lends a connection to `work`. If that fails, the connection is reused only if the server still responds on it. */
export async function withConnection<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(!(await isRolledBack(client)));
    throw error;
  }
}

const ROLLBACK = { text: "ROLLBACK", query_timeout: CONNECT_MS };

async function isRolledBack(client: PoolClient): Promise<boolean> {
  try {
    await client.query(ROLLBACK);
    return true;
  } catch {
    return false;
  }
}
