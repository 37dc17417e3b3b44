import { CrashError, InterruptedError, type StopSignal } from "../errors/command-errors.ts";
import type { Process } from "../process.ts";
import { systemClock } from "../../runtime/clock.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

export interface Lifetime {
  /** Aborted with InterruptedError by the first signal, or with the given reason by `end`. */
  readonly signal: AbortSignal;
  end(reason: Error): void;
  lastWords(text: string | null): void;
  release(): void;
}

const SIGNALS: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * A second signal this soon is ignored: `timeout` signals its child twice, directly and through its process group, and
 * no one presses Ctrl-C that fast.
 */
const ECHO_MS = 100;

/** The first signal asks the command to stop. A second one kills the process. */
export function watchSignals(process: Process): Lifetime {
  const controller = new AbortController();
  let words: string | null = null;
  let stoppedMs = 0;
  const release = (): void => {
    for (const name of SIGNALS) process.off(name, onSignal);
  };
  const onSignal = (name: StopSignal): void => {
    if (controller.signal.reason instanceof InterruptedError) {
      if (systemClock.monotonic() - stoppedMs < ECHO_MS) return;
      release();
      if (words !== null) process.stderr.write(words);
      process.kill(process.pid, name);
      return;
    }
    stoppedMs = systemClock.monotonic();
    controller.abort(new InterruptedError(name));
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  // Node would open its debugger, to which any local user could connect.
  process.on("SIGUSR1", () => undefined);
  return {
    signal: controller.signal,
    end: (reason) => controller.abort(reason),
    lastWords: (text) => {
      words = text;
    },
    release,
  };
}

/** Time to stop after a crash, because the command may be waiting for something that will never happen. */
const GRACE_MS = 3000;

/**
 * Node would print an uncaught error's stack, including personal data. Here the error stops the command like a signal,
 * so that files stay intact, and is reported like other errors.
 */
export function watchCrashes(process: Process, lifetime: Lifetime, report: (error: unknown) => Promise<ExitCode>) {
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
  return {
    first: (): CrashError | null => state.first,
    commandEnded: (): void => ended.abort(),
  };
}
