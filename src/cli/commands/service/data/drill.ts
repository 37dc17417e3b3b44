/** `service backup --drill`: whether a backup can be used. */
import { execFile } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { unixSeconds } from "../../../../runtime/clock.ts";
import type { Drilled } from "../../../../service/data-file/drill.ts";
import type { Store } from "../../../../service/domain/ports.ts";
import { AssertionError, DataFileError } from "../../../errors/command-errors.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { asCliError } from "../../../kit/data/data-file-errors.ts";
import { chooseServicePlace, type DataFileChoice } from "../../../kit/data/data-place.ts";
import type { Deps } from "../../../kit/deps.ts";
import { writeNote } from "../../../kit/notes.ts";
import { createProgress } from "../../../kit/progress.ts";
import { createTimeFormatter } from "../../../render/time.ts";
import { toResource } from "../service-resources.ts";
import { showRecord, withStore } from "./data-file.ts";

export const DRILLED = toResource("backups", {
  file: "text",
  made_at: "time",
  age_seconds: "number",
  duration_seconds: "number",
  projects: "number",
  people: "number",
  responses: "number",
  surveys: "number",
  differences: "text",
  missing: "text",
});

const LITESTREAM = "litestream:";

/** `file` may be a folder, or `litestream:` and what Litestream restores. Throws AssertionError for a bad backup. */
export async function runDrill(deps: Deps, file: string, choice: DataFileChoice, maxAge: number): Promise<void> {
  const begun = deps.clock.monotonic();
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-drill-"));
  try {
    const backup = await findBackup(deps, file, folder);
    const shown = file.startsWith(LITESTREAM) ? file : backup;
    const { made_at: madeAt, ...drilled } = await compare(deps, choice, (running) =>
      tryOut(deps, { backup, folder, running }, shown),
    );
    const now = unixSeconds(deps.clock);
    const seconds = Math.round(deps.clock.monotonic() - begun) / 1000;
    const moment = { made_at: madeAt, age_seconds: now - madeAt, duration_seconds: seconds };
    await showRecord(deps, DRILLED, { file: shown, ...moment, ...drilled });
    if (drilled.missing.length > 0) throw failed(`${shown} is incomplete: it lacks ${drilled.missing.join(", ")}`);
    const [ago, at] = (["relative", "iso"] as const).map((format) =>
      createTimeFormatter({ format, zone: null, now })(madeAt),
    );
    if (now - madeAt > maxAge) throw failed(`${shown} is older than --max-age: it was made ${ago}, at ${at}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function compare(
  deps: Deps,
  choice: DataFileChoice,
  work: (running: Store | null) => Promise<Drilled>,
): Promise<Drilled> {
  const place = await chooseServicePlace(deps, choice);
  if (place.kind === "database" || place.isNamed || existsSync(place.dataFile))
    return withStore(deps, choice, (_, store) => work(store));
  await writeNote(deps, `there is no ${place.dataFile} to compare the backup with`);
  return asCliError(() => work(null));
}

async function tryOut(
  deps: Deps,
  { backup, ...given }: { readonly backup: string; readonly folder: string; readonly running: Store | null },
  shown: string,
): Promise<Drilled> {
  const { drill } = await import("../../../../service/data-file/drill.ts");
  const { FileChoiceError } = await import("../../../../service/data-file/backup.ts");
  const { StoreFileError } = await import("../../../../service/store/store-errors.ts");
  const progress = createProgress(deps, "rows");
  try {
    return await drill({ ...deps, ...given, file: backup, onRows: (rows) => progress.update(rows) });
  } catch (error) {
    const isBad = error instanceof StoreFileError || error instanceof FileChoiceError;
    throw isBad ? failed(error.message.replace(backup, shown)) : error;
  } finally {
    await progress.end();
  }
}

function failed(message: string): AssertionError {
  return new AssertionError([message], message);
}

async function findBackup({ signal }: Deps, file: string, folder: string): Promise<string> {
  if (file.startsWith(LITESTREAM)) return runLitestream(file.slice(LITESTREAM.length), folder, signal);
  if (!existsSync(file)) throw new UsageError(`there is no file ${file}`);
  if (!statSync(file).isDirectory()) return file;
  const { newestBackup } = await import("../../../../service/data-file/drill.ts");
  const newest = newestBackup(file);
  if (newest === null) throw failed(`${file} has no backup`);
  return newest;
}

async function runLitestream(source: string, folder: string, signal: AbortSignal): Promise<string> {
  const target = path.join(folder, "litestream.db");
  try {
    await promisify(execFile)("litestream", ["restore", "-o", target, source], { signal });
    return target;
  } catch (error) {
    signal.throwIfAborted();
    const { code, stderr = "" } = error as { readonly code?: unknown; readonly stderr?: string };
    if (code !== "ENOENT") throw failed(`litestream cannot restore ${source}: ${stderr.trim().split("\n").at(-1)}`);
    throw new DataFileError("no_litestream", "there is no program litestream, which restores its own backups", {
      hint: "install it from https://litestream.io, or add its folder to PATH",
    });
  }
}
