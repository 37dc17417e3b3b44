import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createDatabase, type SqliteDatabase } from "../../../src/service/store/sqlite/engine/database.ts";
import { IN_MEMORY, openEngine } from "../../../src/service/store/sqlite/engine/engine.ts";
import { onPostgres } from "../../helpers/postgres.ts";
import type { StoreEngine } from "../domain/fixture.ts";

export const STORES: readonly StoreEngine[] = onPostgres ? ["postgresql"] : ["sqlite"];

export function newDataFile(): string {
  return path.join(mkdtempSync(path.join(tmpdir(), "surveyctl-store-")), "survey.db");
}

export async function openRawDatabase(file: string = IN_MEMORY): Promise<SqliteDatabase> {
  return createDatabase(await openEngine(file));
}
