/** How a run goes on from where the last one came to, and what it leaves for the next. */
import type { RowPage } from "../../../bulk/export/lists.ts";
import type { SinkTotals } from "../../../bulk/export/byte-sink.ts";
import type { ExportTotals } from "../../../bulk/export/run-export.ts";
import { OVERLAP_SECONDS, type StateIdentity } from "../../../bulk/export/state.ts";
import { createVersionFilter, mergeVersions, versionsSince, type Version } from "../../../bulk/export/versions.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { UsageError } from "../../errors/usage-error.ts";
import type { ExportSource } from "./export-request.ts";
import type { OpenedExport } from "./export-opened.ts";
import { writeNote } from "../notes.ts";
import { digestOldBytes } from "./old-file.ts";

export interface Increment {
  readonly source: ExportSource;
  /** Whether the whole list is read, and not only what is new. */
  readonly isWhole: boolean;
  /** Bytes of the old file that stay. */
  readonly keptBytes: number;
  /** Whether a row is written; null: every row. */
  readonly keep: ((row: JsonObject) => boolean) | null;
  /** What the next run must know of a page, when the service's clock stood at `startedAt`. */
  versionsOf(page: RowPage, startedAt: number): readonly Version[];
  /** Called when the data is durable. */
  finish(totals: ExportTotals, startedAt: number, written: SinkTotals): Promise<void>;
}

export async function beginIncrement(opened: OpenedExport): Promise<Increment> {
  const { request, flags, state, output } = opened;
  const whole = { source: request.source, isWhole: true, keep: null, versionsOf: () => [], finish: async () => {} };
  if (state === null || request.incremental === null) return { ...whole, keptBytes: flags.append ? output.oldBytes : 0 };
  const { source, versions, watermark } = request.incremental;
  const identity = await identify(opened);
  state.check(identity);
  const keptBytes = await checkLength(opened);
  const last = state.last ?? { identity, until: null, file_bytes: flags.append ? keptBytes : null, file_sha256: null, versions: [] };
  // Written before the first rows are, so that a run that dies between the file and the state is done again and not twice.
  if (state.last === null && flags.append) await state.write(last);
  const goesOn = last.until === null ? null : source(last.until - OVERLAP_SECONDS);
  return {
    source: goesOn ?? request.source,
    isWhole: goesOn === null,
    keptBytes,
    keep: last.versions.length === 0 ? null : createVersionFilter(versions, last.versions),
    versionsOf: (page, startedAt) => versionsSince(versions, page, watermark(startedAt) - OVERLAP_SECONDS),
    async finish(totals, startedAt, { bytes, sha256 }) {
      const until = Math.max(last.until ?? 0, watermark(startedAt));
      await state.write({
        identity,
        until,
        file_bytes: flags.append ? bytes : null,
        file_sha256: flags.append ? sha256 : null,
        versions: mergeVersions(last.versions, totals.versions, until - OVERLAP_SECONDS),
      });
    },
  };
}

async function identify({ deps, request, flags, plan, connection }: OpenedExport): Promise<StateIdentity> {
  const { client, account } = connection;
  const dialect = [flags.crlf ? "crlf" : "", flags.bom ? "bom" : "", flags.excelSafe ? "excel-safe" : "", plan.gzip ? "gzip" : ""];
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
  await writeNote(deps, `${plan.file ?? ""}: the last ${surplus} bytes are of a run that did not end, and are replaced`);
  return recorded;
}
