import type { LockWatch } from "../../runtime/files/lock-file.ts";
import { countOf } from "../../contract/text/whole-number.ts";
import type { Connection, Deps } from "./deps.ts";
import { CancelledError } from "../errors/usage-error.ts";

type Notes = Pick<Deps, "streams" | "options">;

export async function writeNote({ streams, options }: Notes, text: string): Promise<void> {
  if (!options.quiet) await streams.err.write(`note: ${text}\n`);
}

export async function writeDone({ streams, options }: Notes, text: string): Promise<void> {
  if (!options.quiet) await streams.err.write(`${text}\n`);
}

export async function writeWarning({ streams, options }: Notes, text: string): Promise<void> {
  if (!options.quiet) await streams.err.write(`warning: ${text}\n`);
}

/** Waits and watches the lock file, because a lock holder on another machine can't be checked in any other way. */
export function watchLock(deps: Pick<Deps, "streams" | "options" | "clock" | "signal">): LockWatch {
  return async (ms, lock) => {
    await writeNote(deps, `${lock} is held from another machine or container; watching it for ${ms / 1000} s`);
    await deps.clock.sleep(ms, deps.signal);
  };
}

export function describeRetries({ retryCount }: Pick<Connection, "retryCount">): string | null {
  const retries = retryCount();
  return retries === 0 ? null : countOf(retries, "request was retried", "requests were retried");
}

export async function confirm(
  { streams }: Deps,
  question: string,
  kept = "Nothing was sent.",
  retyped: string | null = null,
): Promise<void> {
  const how = retyped === null ? "[y/N]" : `Type ${retyped} to confirm:`;
  const answer = (await streams.in.ask(`${question} ${how} `)).trim();
  if (retyped === null ? !/^y(?:es)?$/i.test(answer) : answer !== retyped)
    throw new CancelledError(`Cancelled. ${kept}`);
}
