/** Faults in the store. */
import type { createDatabase } from "../../../src/service/store/sqlite/engine/database.ts";
import type { writeTime } from "../../../src/service/domain/write-time.ts";
import type { assignId } from "../../../src/service/sql/project-states.ts";
import type { openSqliteStore } from "../../../src/service/store/sqlite/open-sqlite-store.ts";
import { fault } from "./plant.ts";

const STORE = ["service/store/sqlite/open-sqlite-store.ts", "openSqliteStore"] as const;

const TIME = ["service/domain/write-time.ts", "writeTime"] as const;

export const STORE_FAULTS = [
  fault<typeof createDatabase>(
    "an answer does not wait for the disk",
    ["service/store/sqlite/engine/database.ts", "createDatabase"],
    (original) => (engine, options) => {
      const exec = (sql: string): void => engine.exec(sql.replace("synchronous = FULL", "synchronous = NORMAL"));
      return original({ ...engine, exec }, options);
    },
  ),
  fault<typeof openSqliteStore>("a write that fails is acknowledged", STORE, (original) => async (options) => {
    const store = await original(options);
    const write: typeof store.write = async (work, how) => {
      const done: Awaited<ReturnType<typeof work>>[] = [];
      try {
        return await store.write(async (tx) => {
          const result = await work(tx);
          done.push(result);
          return result;
        }, how);
      } catch (error) {
        const [result] = done;
        if (result === undefined || (error as Error).name !== "StoreFileError") throw error;
        return result;
      }
    };
    return { ...store, write };
  }),
  fault<typeof assignId>(
    "the id of a deleted row is given again",
    ["service/sql/project-states.ts", "assignId"],
    () => async (database, project) => {
      const counted = ["people", "responses", "messages", "api_keys", "webhooks"].map(
        (table) => `SELECT max(id) AS id FROM ${table} WHERE project_id = ?`,
      );
      const sql = `SELECT max(id) AS id FROM (${counted.join(" UNION ALL ")})`;
      const row = await database.first(
        sql,
        counted.map(() => project),
      );
      return Number(row?.["id"] ?? 0) + 1;
    },
  ),
  fault<typeof writeTime>("updated_at goes back with the clock", TIME, (original) => (nowMs) => original(nowMs, 0)),
  fault<typeof writeTime>("what waits counts from the newest write", TIME, (original) => (nowMs, newest) => ({
    ...original(nowMs, newest),
    nowMs: Math.max(nowMs, newest * 1000),
  })),
];
