/** The memory of incremental exports on disk, and the lock that lets one run at a time use it. */
import { readFile, stat } from "node:fs/promises";
import {
  checkIdentity,
  formatState,
  parseState,
  StateRefusedError,
  type ExportState,
  type StateIdentity,
} from "../../bulk/export/state.ts";
import type { Deps } from "../command/deps.ts";
import { UsageError } from "../errors/usage-error.ts";
import { lockFile, writeWhole } from "./output.ts";

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
  const lock = await lockFile(deps, `${file}.lock`, { file, flag: "--state" });
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

async function readIfThere(file: string): Promise<string | null> {
  try {
    // A pipe would be waited for, and a device has no end.
    if (!(await stat(file)).isFile()) throw new UsageError(`--state: ${file} is not a regular file`);
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof UsageError) throw error;
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
      hint: `to export everything again, use another --state file or delete ${file}`,
      cause: error,
    });
  }
}
