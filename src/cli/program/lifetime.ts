import { InterruptedError, type StopSignal } from "../errors/interrupted-error.ts";
import type { Process } from "../process.ts";

export interface Lifetime {
  /** Aborted with InterruptedError by the first signal, or with the reason given to `end`. */
  readonly signal: AbortSignal;
  end(reason: Error): void;
  /** Written to stderr when a second signal ends the process at once; null for nothing. */
  lastWords(text: string | null): void;
  /** Lets the process go: without listeners the loop can drain. */
  release(): void;
}

const SIGNALS: readonly StopSignal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** The first signal asks the command to stop; a second one ends the process at once, as if nobody had listened. */
export function watchSignals(process: Process): Lifetime {
  const controller = new AbortController();
  let words: string | null = null;
  const release = (): void => {
    for (const name of SIGNALS) process.off(name, onSignal);
  };
  const onSignal = (name: StopSignal): void => {
    if (controller.signal.reason instanceof InterruptedError) {
      release();
      if (words !== null) process.stderr.write(words);
      process.kill(process.pid, name);
      return;
    }
    controller.abort(new InterruptedError(name));
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  // Left alone, Node opens its debugger on it, which any user of the machine could then connect to.
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
