import { readdir } from "node:fs/promises";
import path from "node:path";
import { openReplacement, resolveFile } from "../../runtime/files/file-replacement.ts";
import { LockedError, takeLock, type Lock } from "../../runtime/files/lock-file.ts";
import type { Deps } from "../kit/deps.ts";
import { watchLock } from "../kit/notes.ts";
import { UsageError } from "../errors/usage-error.ts";
import type { ImportRequest } from "./import-request.ts";
import { isReadOnce } from "./input-source.ts";

export interface RunFiles {
  readonly results: string;
  readonly journal: string;
  readonly lock: string;
}

export const JOURNAL_SUFFIX = ".journal";

export async function runFiles({ input, command, flags }: ImportRequest): Promise<RunFiles> {
  if (flags.results === null && (await isReadOnce(input)))
    throw new UsageError(`--results FILE is required when reading ${input === "-" ? "standard input" : input}`);
  const [noun, verb] = command.split(" ");
  return filesOf(flags.results ?? `${input}.${noun}-${verb}.results.csv`);
}

export function filesOf(results: string): RunFiles {
  return { results, journal: `${results}${JOURNAL_SUFFIX}`, lock: `${results}.lock` };
}

export async function listJournals(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const journals = names.filter((name) => name.endsWith(JOURNAL_SUFFIX));
  return journals.toSorted().map((name) => (folder === "." ? name : path.join(folder, name)));
}

export async function checkTargets(
  { random }: Deps,
  { input, flags: { failedTo } }: ImportRequest,
  files: RunFiles,
): Promise<void> {
  checkApart([
    ["the input", input === "-" ? null : input],
    ["the results", files.results],
    ["the journal", files.journal],
    ["the lock", files.lock],
    ["--failed-to", failedTo],
  ]);
  for (const file of [files.results, files.journal, failedTo]) {
    if (file !== null) await (await openReplacement(file, random.token(6))).discard();
  }
}

function checkApart(uses: readonly (readonly [use: string, file: string | null])[]): void {
  const taken = new Map<string, string>();
  for (const [use, file] of uses) {
    if (file === null) continue;
    const place = resolveFile(file);
    const other = taken.get(place);
    if (other !== undefined) throw new UsageError(`${file} is already ${other}; it cannot be ${use} too`);
    taken.set(place, use);
  }
}

export async function lockRun({ lock }: RunFiles, deps: Deps): Promise<Lock> {
  try {
    return await takeLock(lock, deps.random.token(6), watchLock(deps));
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    if (error.pid === null)
      throw new UsageError(`${lock} exists, but does not identify the run that holds it`, {
        hint: "if no import is running, remove it",
        cause: error,
      });
    throw new UsageError(`another run (process ${error.pid}) is importing with these results`, {
      hint: `wait for it to end; its lock is ${lock}`,
      cause: error,
    });
  }
}
