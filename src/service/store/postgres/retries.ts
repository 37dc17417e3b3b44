/** Retries writes after transient errors, unless they may have been committed. */
import type { Clock } from "../../../runtime/clock.ts";
import type { Random } from "../../../runtime/random.ts";
import type { StoreWatch } from "../../domain/ports.ts";
import type { CommitOutcome, TransactionMark } from "./commit-outcome.ts";
import type { WriteEnd } from "../sql/run-jobs.ts";
import { classifyError, unavailable } from "./postgres-errors.ts";
import { CommitLost } from "./write-transaction.ts";

const TRIES_MAX = 5;
const RETRY_MS = 20;
/** Maximum number of queries about a transaction that is still running. */
const ASKS_MAX = 20;
/** No retry begins later than this, because it may wait 5 s for a connection and 8 s for its project. */
const RETRY_MAX_MS = 2_000;

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly askOutcome: (transaction: TransactionMark) => Promise<CommitOutcome>;
  readonly unprepare: () => void;
  readonly onRetry?: StoreWatch["onRetry"];
}

/** `run` runs a complete transaction. Throws its last error, or StoreDatabaseError if the outcome is unknown. */
export async function withRetries(options: RetryOptions, run: () => Promise<WriteEnd>): Promise<WriteEnd> {
  const { clock, random } = options;
  const beganMs = clock.monotonic();
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      const isLost = error instanceof CommitLost;
      if (isLost && (await isCommitted(options, error))) return error.end;
      const kind = isLost ? "again" : classifyError(error);
      if (kind === "unprepared") options.unprepare();
      const isHopeless = kind === "fault" || kind === "unavailable";
      if (isHopeless || tries === TRIES_MAX || clock.monotonic() - beganMs > RETRY_MAX_MS)
        throw isLost ? unavailable(error) : error;
      options.onRetry?.(sqlstate(isLost ? error.cause : error));
      await clock.sleep(RETRY_MS * tries * (1 + random.fraction()));
    }
  }
}

function sqlstate(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : "none";
}

async function isCommitted({ clock, askOutcome }: RetryOptions, lost: CommitLost): Promise<boolean> {
  for (let asks = 1; asks <= ASKS_MAX; asks += 1) {
    const outcome = await askOutcome(lost.transaction).catch((): CommitOutcome => "in progress");
    if (outcome === "committed") return true;
    if (outcome === "aborted") return false;
    if (outcome === "unknown") break;
    await clock.sleep(RETRY_MS * asks);
  }
  throw unavailable(lost);
}
