/** The engines that tests of the store run on: both SQLite libraries, or the server. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { isBuiltin } from "node:module";
import { IN_MEMORY, type EngineName } from "../../../src/service/store/sqlite/engine/engine.ts";
import { createDatabase, type SqliteDatabase } from "../../../src/service/store/sqlite/engine/database.ts";
import { onPostgres } from "../../helpers/postgres.ts";
import type { StoreEngine } from "../domain/fixture.ts";
import { openEngine } from "../../../src/service/store/sqlite/engine/engine.ts";

/** Those of files. */
export const ENGINES: readonly EngineName[] = isBuiltin("node:sqlite")
  ? ["node:sqlite", "node-sqlite3-wasm"]
  : ["node-sqlite3-wasm"];

/** Those of this run. */
export const STORES: readonly StoreEngine[] = onPostgres ? ["postgresql"] : ENGINES;

/** Path of a data file that is not there yet, in a folder of its own. */
export function newDataFile(): string {
  return path.join(mkdtempSync(path.join(tmpdir(), "surveyctl-store-")), "survey.db");
}

export async function openRawDatabase(engine: EngineName, file: string = IN_MEMORY): Promise<SqliteDatabase> {
  return createDatabase(await openEngine(file, engine));
}
