import type { Transaction } from "../../domain/ports.ts";
import type { Database } from "../../sql/database.ts";
import type { ProjectStates } from "../../sql/project-states.ts";

export interface Job<Work> {
  readonly work: Work;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export type WriteJob = Job<(tx: Transaction) => Promise<unknown>>;

export interface JobDatabase extends Pick<Database, "counts" | "send"> {
  readonly states: ProjectStates;
  /** Starts a job whose changes can be undone without those of earlier jobs. */
  beginJob(): void;
  endJob?(): void;
  /** Returns the error to reject the job with. Rejects if only the whole transaction can be undone. */
  undoJob(error: unknown): Promise<unknown>;
  isChanged(): boolean;
}

export interface WriteEnd {
  readonly outcome: "committed" | "rolled_back";
  /** Settle the jobs' promises. Called once the outcome is certain. */
  readonly answers: readonly (() => void)[];
}

interface JobEnd {
  readonly isKept: boolean;
  readonly answer: () => void;
}

/** Does everything but BEGIN and the final COMMIT or ROLLBACK. If a job throws, only that job is rolled back. */
export async function runJobs(database: JobDatabase, tx: Transaction, jobs: readonly WriteJob[]): Promise<WriteEnd> {
  const { counts, states } = database;
  const ends: JobEnd[] = [];
  // A single job needs no savepoint, because it is rolled back with its transaction.
  for (const job of jobs) ends.push(await runJob(database, tx, job, jobs.length > 1));
  const answers = ends.map(({ answer }) => answer);
  if (!ends.some(({ isKept }) => isKept)) return { outcome: "rolled_back", answers };
  if (database.isChanged())
    for (const { sql, values } of [...counts.take(), ...states.end(tx.updatedAt)]) database.send(sql, values);
  return { outcome: "committed", answers };
}

async function runJob(
  database: JobDatabase,
  tx: Transaction,
  { work, resolve, reject }: WriteJob,
  inSavepoint: boolean,
): Promise<JobEnd> {
  if (inSavepoint) database.beginJob();
  const [held, counted] = [database.states.mark(), database.counts.mark()];
  try {
    const value = await work(tx);
    if (inSavepoint) database.endJob?.();
    return { isKept: true, answer: () => resolve(value) };
  } catch (thrown) {
    const error = await database.undoJob(thrown);
    database.states.restore(held);
    database.counts.restore(counted);
    return { isKept: false, answer: () => reject(error) };
  }
}
