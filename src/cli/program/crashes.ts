import { systemClock } from "../../runtime/clock.ts";
import { CrashError } from "../errors/crash-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { Process } from "../process.ts";
import type { Lifetime } from "./lifetime.ts";

export interface CrashWatch {
  /** The error that nobody caught, once there is one. */
  readonly first: () => CrashError | null;
  /** From now on a crash has only to be told. */
  commandEnded(): void;
}

/** What the command waits for may never come after a crash. */
const GRACE_MS = 3000;

/**
 * Node would print the stack of an error that nobody caught, whatever that holds. Here it ends the command as a signal does,
 * so that files are left whole, and is told as every other error is.
 */
export function watchCrashes(
  process: Process,
  lifetime: Lifetime,
  report: (error: unknown) => Promise<ExitCode>,
): CrashWatch {
  const ended = new AbortController();
  const state: { first: CrashError | null } = { first: null };
  const stop = async (crash: CrashError): Promise<void> => {
    lifetime.end(crash);
    const isInTime = await systemClock.sleep(GRACE_MS, ended.signal).then(
      () => false,
      () => true,
    );
    if (isInTime) return;
    await report(crash.cause);
    lifetime.release();
    process.kill(process.pid, "SIGTERM");
  };
  process.on("uncaughtException", (error: unknown) => {
    if (state.first !== null) return;
    state.first = new CrashError(error);
    process.exitCode = EXIT.failed;
    if (ended.signal.aborted) void report(error);
    else void stop(state.first);
  });
  return { first: () => state.first, commandEnded: () => ended.abort() };
}
