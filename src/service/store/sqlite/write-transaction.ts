import type { Clock } from "../../../runtime/clock.ts";
import { writeTime } from "../../domain/write-time.ts";
import type { CountChanges } from "../../sql/lists/count-changes.ts";
import { NEWEST_WRITE, type ProjectStates } from "../../sql/project-states.ts";
import { type JobDatabase, runJobs, type WriteEnd, type WriteJob } from "../sql/run-jobs.ts";
import type { StoreRows } from "../sql/store-rows.ts";
import { rollBack, type SqliteDatabase } from "./engine/database.ts";
import type { FileWatch } from "./engine/file-watch.ts";

export interface WriteTools {
  readonly database: SqliteDatabase;
  readonly clock: Pick<Clock, "now">;
  readonly states: ProjectStates;
  readonly counts: CountChanges;
  readonly rows: StoreRows;
  readonly watch: Pick<FileWatch, "failed" | "look" | "recover" | "trouble" | "uncommitted">;
}

/** Called after BEGIN. Throws whatever prevents a commit. */
export async function runWrite(tools: WriteTools, jobs: readonly WriteJob[]): Promise<WriteEnd> {
  const { database, clock, states, counts, rows, watch } = tools;
  database.writing = true;
  database.changes = 0;
  try {
    const time = writeTime(clock.now(), Number(database.first(NEWEST_WRITE)?.at ?? 0));
    const end = await runJobs(toJobDatabase(tools), rows.begin(time), jobs);
    if (end.outcome === "committed") commit(database, watch);
    else rollBack(database);
    return end;
  } finally {
    states.forget();
    counts.take();
    database.writing = false;
  }
}

function toJobDatabase({ database, states, counts, watch }: WriteTools): JobDatabase {
  const state = { inSavepoint: false };
  return {
    states,
    counts,
    send: (sql, values) => void database.run(sql, values),
    beginJob: () => {
      database.all("SAVEPOINT job");
      state.inSavepoint = true;
    },
    endJob: () => void database.all("RELEASE job"),
    undoJob: async (error) => {
      // If the disk filled up during a large change, SQLite has already ended the transaction.
      if (state.inSavepoint && !undoJob(database)) throw error;
      return watch.failed(error);
    },
    // While the disk is in trouble, every write commits, to find out whether there is room again.
    isChanged: () => database.changes > 0 || states.isChanged() || watch.trouble() !== null,
  };
}

function commit(database: SqliteDatabase, watch: WriteTools["watch"]): void {
  try {
    database.all("COMMIT");
  } catch (error) {
    throw watch.uncommitted(error);
  }
  watch.look();
  watch.recover();
}

function undoJob(database: SqliteDatabase): boolean {
  try {
    database.all("ROLLBACK TO job");
    database.all("RELEASE job");
    return true;
  } catch {
    return false;
  }
}
