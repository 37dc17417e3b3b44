import { readFile, stat } from "node:fs/promises";
import type { SinkTotals } from "../../bulk/export/byte-sink.ts";
import { createVersionFilter, createVersionLog, NO_VERSIONS, type VersionLog } from "../../bulk/export/versions.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { Connection, Deps } from "../kit/deps.ts";
import { UsageError } from "../errors/usage-error.ts";
import { digestOldBytes, lockFile, tryPlace, writeSmallFile, type ExportOutput } from "./output.ts";
import type { ExportPlan } from "./plan.ts";
import type { ExportFlags, ExportRequest, ExportSource, UnstampedRows } from "./request.ts";
import {
  checkIdentity,
  type ExportPosition,
  type ExportState,
  formatState,
  OVERLAP_SECONDS,
  parseState,
  type StateIdentity,
} from "./state.ts";

export interface OpenedExport {
  readonly deps: Deps;
  readonly request: ExportRequest;
  readonly flags: ExportFlags;
  readonly plan: ExportPlan;
  readonly state: StateFile | null;
  readonly output: ExportOutput;
  readonly connection: Connection;
}

export interface Increment {
  readonly source: ExportSource;
  readonly unstamped: UnstampedRows | null;
  readonly isWhole: boolean;
  readonly keep: ((row: JsonObject) => boolean) | null;
  readonly checkClock: (serverTime: number | null) => void;
  openLog(startedAt: () => number): VersionLog | null;
  /**
   * Call it before the rename. With --append, it records the file's new length and digest, so that the next run
   * recognizes the file even if this run is killed.
   */
  announce(log: VersionLog | null, written: SinkTotals): Promise<void>;
  finish(log: VersionLog | null, written: SinkTotals): Promise<void>;
}

/** Tolerance for small corrections of the service's clock. */
const CLOCK_STEP_SECONDS = 60;

export async function beginIncrement(opened: OpenedExport): Promise<Increment> {
  const { request, flags, state } = opened;
  const { incremental } = request;
  if (state === null || incremental === null) return readWhole(request.source);
  const { versions: keys, watermark } = incremental;
  const identity = await identify(opened);
  state.check(identity);
  if (flags.append && state.last === null) refuseForeignRows(opened);
  const before: ExportPosition & Pick<ExportState, "pending"> = state.last ?? {
    until: null,
    file_bytes: flags.append ? opened.output.oldBytes : null,
    file_sha256: null,
    versions: NO_VERSIONS,
    pending: null,
  };
  const last = flags.append ? await settlePending(opened, before) : before;
  const since = last.until === null ? null : last.until - OVERLAP_SECONDS;
  const positionAfter = (log: VersionLog | null, { bytes, sha256 }: SinkTotals): ExportPosition => ({
    file_bytes: flags.append ? bytes : null,
    file_sha256: flags.append ? sha256 : null,
    ...(log?.tail() ?? last),
  });
  return {
    source: since === null ? request.source : incremental.source(since),
    unstamped: since === null ? null : (incremental.unstamped?.(since) ?? null),
    isWhole: since === null,
    keep: last.versions.marks.length === 0 ? null : createVersionFilter(keys, last.versions),
    checkClock(serverTime) {
      if (serverTime === null || last.until === null || last.until <= serverTime + CLOCK_STEP_SECONDS) return;
      throw new UsageError(`--state: ${flags.state ?? ""} is ahead of the service's clock; rows would be missed`, {
        hint: "it belongs to another service, or a clock was wrong; to export everything again, delete it",
      });
    },
    openLog: (startedAt) => createVersionLog(keys, last, OVERLAP_SECONDS, () => watermark(startedAt())),
    async announce(log, written) {
      const { until, file_bytes, file_sha256, versions } = last;
      const pending = positionAfter(log, written);
      if (flags.append) await state.write({ identity, until, file_bytes, file_sha256, versions, pending });
    },
    finish: (log, written) => state.write({ identity, ...positionAfter(log, written), pending: null }),
  };
}

function refuseForeignRows({ request, flags, plan, output }: OpenedExport): void {
  if (output.oldBytes === 0 || request.source.range.since !== null) return;
  throw new UsageError(
    `--append: ${plan.file ?? ""} is not empty, and ${flags.state ?? ""} does not say yet which rows it holds`,
    { hint: "use --since to export only what it lacks, or another --out file" },
  );
}

function readWhole(source: ExportSource): Increment {
  return {
    source,
    unstamped: null,
    isWhole: true,
    keep: null,
    checkClock: () => {},
    openLog: () => null,
    announce: async () => {},
    finish: async () => {},
  };
}

async function identify({ deps, request, plan, connection }: OpenedExport): Promise<StateIdentity> {
  const dialect = [deps.options.excel ? "excel" : "", plan.gzip ? "gzip" : ""];
  return {
    command: request.command,
    base_url: connection.place,
    key: await connection.keyFingerprint(),
    filter: request.filterText,
    format: [plan.format, ...dialect, deps.options.time ?? ""].filter((word) => word !== "").join(" "),
    columns: plan.columns?.map(({ name }) => name).join(",") ?? "",
  };
}

/**
 * Returns the position that a killed run announced if the file matches it. Throws UsageError if something else changed
 * the file.
 */
async function settlePending(
  { flags, output, plan }: OpenedExport,
  last: ExportPosition & Pick<ExportState, "pending">,
): Promise<ExportPosition> {
  const { pending, file_bytes: recorded } = last;
  const { oldBytes } = output;
  if (recorded === null || oldBytes === recorded) return last;
  const isPending = pending !== null && oldBytes === pending.file_bytes;
  if (isPending && pending.file_sha256 === (await digestOldBytes(output.path ?? "", oldBytes))) return pending;
  const file = plan.file ?? "";
  if (oldBytes < recorded)
    throw new UsageError(
      `--state: ${file} has ${oldBytes} bytes, but ${recorded} bytes were written: rows are missing`,
      { hint: `to export everything again, delete ${flags.state ?? ""}` },
    );
  throw new UsageError(`--state: ${file} holds ${oldBytes - recorded} bytes that were not written with this state`, {
    hint: "use one --out file for each --state file",
  });
}

export interface StateFile {
  readonly last: ExportState | null;
  check(identity: StateIdentity): void;
  write(state: ExportState): Promise<void>;
  release(): Promise<void>;
}

export async function openState(deps: Deps, file: string): Promise<StateFile> {
  const lock = await lockFile(deps, `${file}.lock`, { file, flag: "--state" });
  try {
    const text = await readIfThere(file);
    await tryPlace(deps, file);
    const last = text === null ? null : parseState(text, file);
    return {
      last,
      check: (identity) => {
        if (last !== null) checkIdentity(last, identity, file);
      },
      write: (state) => writeSmallFile(deps, file, formatState(state)),
      release: () => lock.release(),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    // Reading a pipe would block, and reading a device might never end.
    if (!(await stat(file)).isFile()) throw new UsageError(`--state: ${file} is not a regular file`);
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new UsageError(`--state: cannot read ${file}: ${(error as Error).message}`, { cause: error });
  }
}
