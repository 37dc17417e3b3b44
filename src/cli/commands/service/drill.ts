import { execFile } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { unixSeconds } from "../../../runtime/clock.ts";
import type { DrillOptions } from "../../../service/data-file/drill.ts";
import { AssertionError, DataFileError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { DataFileChoice } from "../../kit/data/data-place.ts";
import type { Deps } from "../../kit/deps.ts";
import { createProgress } from "../../kit/progress.ts";
import { toResource } from "../../render/columns.ts";
import { showRecord, withStore } from "./data/data-file.ts";

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

/** `file` can also be a folder, or `litestream:` followed by what Litestream should restore. Throws AssertionError. */
export async function runDrill(deps: Deps, file: string, choice: DataFileChoice, maxAge: number): Promise<void> {
  const begun = deps.clock.monotonic();
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-drill-"));
  try {
    const backup = await findBackup(deps, file, folder);
    const shown = file.startsWith(LITESTREAM) ? file : backup;
    const { made_at: madeAt, ...drilled } = await withStore(deps, choice, (_, running) =>
      drillFile(deps, { file: backup, folder, running }, shown),
    );
    const now = unixSeconds(deps.clock);
    const seconds = Math.round(deps.clock.monotonic() - begun) / 1000;
    const moment = { made_at: madeAt, age_seconds: now - madeAt, duration_seconds: seconds };
    await showRecord(deps, DRILLED, { file: shown, ...moment, ...drilled });
    if (drilled.missing.length > 0) throw failed(`${shown} is incomplete: it lacks ${drilled.missing.join(", ")}`);
    const at = new Date(madeAt * 1000).toISOString();
    if (now - madeAt > maxAge) throw failed(`${shown} is older than --max-age: it was made at ${at}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function drillFile(deps: Deps, given: Pick<DrillOptions, "file" | "folder" | "running">, shown: string) {
  const { drill } = await import("../../../service/data-file/drill.ts");
  const { FileChoiceError } = await import("../../../service/data-file/backup.ts");
  const { StoreFileError } = await import("../../../service/store/store-errors.ts");
  const progress = createProgress(deps, "rows");
  try {
    return await drill({ ...deps, ...given, onRows: (rows) => progress.update(rows) });
  } catch (error) {
    const isBad = error instanceof StoreFileError || error instanceof FileChoiceError;
    throw isBad ? failed(error.message.replace(given.file, shown)) : error;
  } finally {
    await progress.end();
  }
}

function failed(message: string): AssertionError {
  return new AssertionError([message], message);
}

async function findBackup(deps: Deps, file: string, folder: string): Promise<string> {
  if (file.startsWith(LITESTREAM)) return runLitestream(deps, file.slice(LITESTREAM.length), folder);
  if (!existsSync(file)) throw new UsageError(`there is no file ${file}`);
  if (!statSync(file).isDirectory()) return file;
  const { newestBackup } = await import("../../../service/data-file/drill.ts");
  const newest = newestBackup(file);
  if (newest === null) throw failed(`${file} has no backup`);
  return newest;
}

async function runLitestream({ env, signal }: Deps, source: string, folder: string): Promise<string> {
  const target = path.join(folder, "litestream.db");
  try {
    await promisify(execFile)("litestream", ["restore", "-o", target, source], { env, signal });
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
