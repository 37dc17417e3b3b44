/** The memory of incremental exports on disk, and the lock that lets one run at a time use it. */
import { readFile } from "node:fs/promises";
import {
  checkIdentity,
  formatState,
  parseState,
  StateRefusedError,
  type ExportState,
  type StateIdentity,
} from "../../bulk/export/state.ts";
import { isDiskFull } from "../../runtime/file-replacement.ts";
import { LockedError, takeLock, type Lock } from "../../runtime/lock-file.ts";
import type { Deps } from "../command/deps.ts";
import { UsageError } from "../errors/usage-error.ts";
import { writeWhole } from "./output.ts";

export interface StateFile {
  /** What the last run left; null when this is the first. */
  readonly last: ExportState | null;
  /** Throws `UsageError` when the last run was of another account, filter or column set. */
  check(identity: StateIdentity): void;
  write(state: ExportState): Promise<void>;
  release(): Promise<void>;
}

/** Throws `UsageError` when another run uses the state, or when it cannot be read or written. */
export async function openState(deps: Deps, file: string): Promise<StateFile> {
  const lock = await lockState(file, deps.random.token(6));
  try {
    const text = await readIfThere(file);
    const last = text === null ? null : asUsage(file, () => parseState(text, file));
    return {
      last,
      check: (identity) => asUsage(file, () => last !== null && checkIdentity(last, identity, file)),
      write: (state) => writeWhole(deps, file, formatState(state)),
      release: () => lock.release(),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function lockState(file: string, token: string): Promise<Lock> {
  try {
    return await takeLock(`${file}.lock`, token);
  } catch (error) {
    if (error instanceof LockedError) {
      const hint = `when no run is under way, remove ${error.file}`;
      throw new UsageError(`--state: ${error.message}`, { hint, cause: error });
    }
    if (isDiskFull(error)) throw Object.assign(error as Error, { path: file });
    throw new UsageError(`--state: cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new UsageError(`--state: cannot read ${file}: ${(error as Error).message}`, { cause: error });
  }
}

function asUsage<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StateRefusedError)) throw error;
    throw new UsageError(`--state: ${error.message}`, {
      hint: `another --state file begins anew, as does removing ${file}`,
      cause: error,
    });
  }
}
