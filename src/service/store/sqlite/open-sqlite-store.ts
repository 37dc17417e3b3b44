import { unixSeconds, type Clock } from "../../../runtime/clock.ts";
import { systemRandom, type Random } from "../../../runtime/random.ts";
import type { Store, Transaction } from "../../domain/ports.ts";
import { createAutopilotRows } from "./rows/autopilot-rows.ts";
import { createLongChanges } from "./steps/long-changes.ts";
import { createDatabase, type Database } from "./engine/database.ts";
import { IN_MEMORY, type EngineName } from "./engine/engine.ts";
import { openEngine } from "./engine/open-engine.ts";
import { makeParent, ownFile, type IsAlive, type Ownership } from "./engine/file-owner.ts";
import { createJobQueue } from "./engine/job-queue.ts";
import { FIND_MISCOUNTS } from "./sql/list-blocks-schema.ts";
import { MIGRATIONS, migrate } from "./sql/migrations.ts";
import { createListBlocks } from "./lists/list-blocks.ts";
import { createPersonRows } from "./rows/person-rows.ts";
import { createProjectRows } from "./rows/project-rows.ts";
import { createRequestRows } from "./rows/request-rows.ts";
import { createResponseRows } from "./rows/response-rows.ts";
import type { Session } from "./engine/session.ts";
import { createStepLoop } from "./steps/step-loop.ts";
import { createSteps } from "./steps/steps.ts";
import { createTrendRows } from "./rows/trend-rows.ts";
import { StoreFileError } from "../store-file-error.ts";

export interface SqliteStoreOptions {
  /** Created when it does not exist; `:memory:` for a store that nothing outlives. */
  readonly file: string;
  readonly clock: Clock;
  readonly random?: Random;
  /** Absent: Node's own SQLite where this Node has it. */
  readonly engine?: EngineName;
  readonly isAlive?: IsAlive;
  /** The most rows in a block of `list_blocks`; absent: what suits large lists. */
  readonly blockRows?: number;
}

/** 16 bytes: 22 characters. */
const TOKEN_BYTES = 16;

/**
 * Opens a data file for this process alone and brings its schema up to date. Throws StoreBusyError while another
 * process owns it, StoreFileError when it is no data file of ours.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const inMemory = options.file === IN_MEMORY;
  if (!inMemory) makeParent(options.file);
  const ownership: Ownership = inMemory ? { release: () => undefined } : ownFile(options.file, options.isAlive);
  try {
    const database = await openDatabase(options);
    return createStore(database, options, ownership);
  } catch (error) {
    ownership.release();
    throw error;
  }
}

async function openDatabase({ file, engine, clock }: SqliteStoreOptions): Promise<Database> {
  const database = createDatabase(await openEngine(file, engine));
  try {
    configure(database);
    migrate(database, MIGRATIONS, unixSeconds(clock));
    return database;
  } catch (error) {
    database.close();
    if (error instanceof Error && error.message.includes("not a database"))
      throw new StoreFileError(`${file} is not a SQLite file`, { cause: error });
    throw error;
  }
}

/** Exclusive before WAL: without shared memory an engine can keep a WAL only for itself. */
function configure(database: Database): void {
  database.exec("PRAGMA locking_mode = EXCLUSIVE");
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = FULL");
  database.exec("PRAGMA foreign_keys = ON");
  database.exec("PRAGMA cache_size = -32768");
  // A checkpoint syncs the data file as well: rather at 16 MB of log than at 4.
  database.exec("PRAGMA wal_autocheckpoint = 4000");
}

function createStore(
  database: Database,
  { clock, random = systemRandom, blockRows }: SqliteStoreOptions,
  ownership: Ownership,
): Store {
  const queue = createJobQueue(database);
  const session: Session = { now: 0 };
  const blocks = createListBlocks(database, blockRows);
  const changes = createLongChanges(database, createSteps(database, session, blocks));
  const rows = {
    token: () => random.token(TOKEN_BYTES),
    projects: createProjectRows(database, session, blocks),
    people: createPersonRows(database, blocks, changes),
    requests: createRequestRows(database, session, blocks),
    responses: createResponseRows(database, blocks),
    trends: createTrendRows(database, session, changes),
    autopilot: createAutopilotRows(database, session, changes),
  };
  const begin = (): Transaction => {
    session.now = unixSeconds(clock);
    return { ...rows, now: session.now };
  };
  const loop = createStepLoop(changes.isNoted, () =>
    queue.write(async () => {
      begin();
      changes.step();
    }),
  );
  loop.start();
  return {
    read: (work) => queue.read(() => work(begin())),
    write: (work) => queue.write(() => work(begin())).finally(loop.start),
    settle: loop.settle,
    backup: (file) => queue.read(async () => void database.all("VACUUM INTO ?", [file])),
    vacuum: () => queue.read(async () => compact(database)),
    check: () => queue.read(async () => integrityFindings(database)),
    close: async () => {
      await queue.close();
      database.close();
      ownership.release();
    },
  };
}

function compact(database: Database): void {
  database.exec("VACUUM");
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
}

function integrityFindings(database: Database): string[] {
  const findings = database.all("PRAGMA integrity_check").map((row) => String(Object.values(row)[0]));
  const orphans = database
    .all("PRAGMA foreign_key_check")
    .map(({ table, parent }) => `a row of ${table} has no ${parent}`);
  const miscounts = database
    .all(FIND_MISCOUNTS)
    .map(({ project_id, list }) => `the counts of ${list} in project ${project_id} are wrong`);
  return [...findings.filter((finding) => finding !== "ok"), ...orphans, ...miscounts];
}
