import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { runHistoryImport, type HistoryRequest } from "../../src/cli/history/run-history.ts";
import { systemRandom } from "../../src/runtime/random.ts";
import { silentLog } from "../../src/runtime/log.ts";
import type { Store } from "../../src/service/domain/ports.ts";
import { ensureFirstKey } from "../../src/service/first-project.ts";
import { openTestService, type TestService } from "./test-service.ts";
import { createDatabase } from "../../src/service/store/sqlite/engine/database.ts";
import { openEngine } from "../../src/service/store/sqlite/engine/engine.ts";
import type { SqlRow } from "../../src/service/sql/database.ts";
import { fakeDeps, fixedClock } from "./fake-deps.ts";

export type SavedFiles = Readonly<Record<string, string | Uint8Array>>;

export interface PastOptions extends Partial<HistoryRequest> {
  readonly stdin?: string | Uint8Array;
}

export interface PastStore {
  readonly folder: string;
  readonly service: TestService;
  /** Writes files to `folder` and imports them. A thrown error becomes part of the outcome. */
  import(files: SavedFiles, options?: PastOptions, to?: Store): Promise<PastOutcome>;
  dump(): Promise<Readonly<Record<string, readonly SqlRow[]>>>;
  close(): Promise<void>;
}

export interface PastOutcome {
  readonly exit: number | null;
  readonly error: string | null;
  readonly out: string;
  readonly err: string;
}

const REQUEST: HistoryRequest = {
  paths: [],
  project: "default",
  format: null,
  stream: null,
  renames: [],
  unknown: null,
  check: false,
  onConflict: "keep",
  updatedAt: "keep",
  webhooks: false,
  expectations: [],
  report: null,
};

export async function openPastStore(): Promise<PastStore> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-past-"));
  const dataFile = path.join(folder, "survey.db");
  const options = { dataFile, clock: fixedClock(), random: systemRandom, log: silentLog };
  const service = await openTestService({ ...options, publicUrl: null, rateLimit: null });
  await ensureFirstKey(service.store, systemRandom, "key-of-the-past-store");
  const state = { isOpen: true };
  const closeService = async (): Promise<void> => {
    if (state.isOpen) await service.close();
    state.isOpen = false;
  };
  let imports = 0;
  return {
    folder,
    service,
    async import(files, { stdin = "", ...given } = {}, to = service.store) {
      imports += 1;
      const saved = path.join(folder, `saved-${imports}`);
      for (const [name, text] of Object.entries(files)) {
        await mkdir(path.dirname(path.join(saved, name)), { recursive: true });
        await writeFile(path.join(saved, name), text);
      }
      const { deps: piped, out, err } = fakeDeps({ options: { output: "json" } });
      const input = { ...piped.streams.in, bytes: () => Readable.from([Buffer.from(stdin)]) };
      const deps = { ...piped, streams: { ...piped.streams, in: input } };
      const request = { ...REQUEST, paths: [saved], ...given };
      const short = (text: string): string => text.replaceAll(`${saved}${path.sep}`, "");
      try {
        const exit = await runHistoryImport(deps, request, (work) => work(to));
        return { exit, error: null, out: out(), err: short(err()) };
      } catch (error) {
        return { exit: null, error: short((error as Error).message), out: out(), err: short(err()) };
      }
    },
    async dump() {
      await closeService();
      const database = createDatabase(await openEngine(dataFile));
      // Without shared memory only one connection can read the WAL, so the service is closed first.
      const tables = database.all("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
      const rows = tables.map(({ name }) => [String(name), rowsOf(String(name), (sql) => database.all(sql))] as const);
      database.close();
      return Object.fromEntries(rows.filter(([name]) => !OWN.has(name)));
    },
    async close() {
      await closeService();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Tables that differ between equal data files. Lists keep the tally of an emptied day, see `Store.check`, and project
 * states depend on the number of writes.
 */
const OWN: ReadonlySet<string> = new Set([
  "api_keys",
  "row_counts",
  "project_state",
  "schema_versions",
  "store_secrets",
]);

function rowsOf(table: string, all: (sql: string) => SqlRow[]): SqlRow[] {
  const secret = new Set(["token", "address_hash"]);
  // The erasure log's position differs per file.
  const kept = table === "store_marks" ? " WHERE name <> 'erasures'" : "";
  const rows = all(`SELECT * FROM ${table}${kept}`).map((row) =>
    Object.fromEntries(Object.entries(row).filter(([column]) => !secret.has(column))),
  );
  return rows.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
}
