/** How a run goes on from where the last one came to, and what it leaves for the next. */
import type { SinkTotals } from "../../bulk/export/byte-sink.ts";
import { OVERLAP_SECONDS, type StateIdentity } from "../../bulk/export/state.ts";
import { createVersionFilter, createVersionLog, type VersionLog } from "../../bulk/export/versions.ts";
import type { JsonObject } from "../../contract/json.ts";
import { UsageError } from "../errors/usage-error.ts";
import type { ExportSource, UnstampedRows } from "./request.ts";
import type { OpenedExport } from "./opened.ts";
import { writeNote } from "../command/notes.ts";
import { digestOldBytes } from "./old-file.ts";

export interface Increment {
  readonly source: ExportSource;
  /** Where new rows are that `source` may leave out; null when there are none such. */
  readonly unstamped: UnstampedRows | null;
  /** Whether the whole list is read, and not only what is new. */
  readonly isWhole: boolean;
  /** Bytes of the old file that stay. */
  readonly keptBytes: number;
  /** Whether a row is written; null: every row. */
  readonly keep: ((row: JsonObject) => boolean) | null;
  /** What is taken down for the next run, when the service's clock stands at `startedAt()`; null when nothing is. */
  openLog(startedAt: () => number): VersionLog | null;
  /** Called when the data is durable. */
  finish(log: VersionLog | null, written: SinkTotals): Promise<void>;
}

export async function beginIncrement(opened: OpenedExport): Promise<Increment> {
  const { request, flags, state, output } = opened;
  const { incremental } = request;
  const whole = {
    source: request.source,
    unstamped: null,
    isWhole: true,
    keep: null,
    openLog: () => null,
    finish: async () => {},
  };
  if (state === null || incremental === null) return { ...whole, keptBytes: flags.append ? output.oldBytes : 0 };
  const { versions: keys, watermark } = incremental;
  const identity = await identify(opened);
  state.check(identity);
  const keptBytes = await checkLength(opened);
  const last = state.last ?? {
    identity,
    until: null,
    file_bytes: flags.append ? keptBytes : null,
    file_sha256: null,
    versions: [],
  };
  // Written before the first rows are, so that a run that dies between the file and the state is done again and not twice.
  if (state.last === null && flags.append) await state.write(last);
  const since = last.until === null ? null : last.until - OVERLAP_SECONDS;
  return {
    source: since === null ? request.source : incremental.source(since),
    unstamped: since === null ? null : (incremental.unstamped?.(since) ?? null),
    isWhole: since === null,
    keptBytes,
    keep: last.versions.length === 0 ? null : createVersionFilter(keys, last.versions),
    openLog: (startedAt) =>
      createVersionLog({ keys, before: last, overlap: OVERLAP_SECONDS, limit: () => watermark(startedAt()) }),
    async finish(log, { bytes, sha256 }) {
      const tail = log?.tail() ?? last;
      await state.write({
        identity,
        file_bytes: flags.append ? bytes : null,
        file_sha256: flags.append ? sha256 : null,
        ...tail,
      });
    },
  };
}

async function identify({ deps, request, flags, plan, connection }: OpenedExport): Promise<StateIdentity> {
  const { client, account } = connection;
  const dialect = [
    flags.crlf ? "crlf" : "",
    flags.bom ? "bom" : "",
    flags.excelSafe ? "excel-safe" : "",
    plan.gzip ? "gzip" : "",
  ];
  return {
    command: request.command,
    base_url: account?.place ?? client.baseUrl,
    key: (await account?.keyFingerprint()) ?? "",
    filter: request.filterText,
    format: [plan.format, ...dialect, deps.options.time ?? ""].filter((word) => word !== "").join(" "),
    columns: plan.columns?.map(({ name }) => name).join(",") ?? "",
  };
}

/** What the last run did not live to record is cut off: it is fetched again. */
async function checkLength({ deps, flags, state, output, plan }: OpenedExport): Promise<number> {
  if (!flags.append) return 0;
  const recorded = state?.last?.file_bytes ?? null;
  if (recorded === null) return output.oldBytes;
  if (output.oldBytes < recorded) {
    throw new UsageError(
      `--state: ${plan.file ?? ""} has ${output.oldBytes} bytes, the state knows ${recorded}: rows that it counts as written are missing`,
      { hint: `remove ${flags.state ?? ""} to export everything again` },
    );
  }
  const surplus = output.oldBytes - recorded;
  if (surplus === 0) return recorded;
  const digest = state?.last?.file_sha256 ?? null;
  if (digest !== null && digest !== (await digestOldBytes(output.path ?? "", recorded))) {
    throw new UsageError(`--state: ${plan.file ?? ""} does not begin with what ${flags.state ?? ""} knows as written`, {
      hint: "it was edited, or is another file: a file of its own needs a state of its own",
    });
  }
  await writeNote(
    deps,
    `${plan.file ?? ""}: the last ${surplus} bytes are of a run that did not end, and are replaced`,
  );
  return recorded;
}
