import { type CheckReport, checkTable } from "../../bulk/import/check/check.ts";
import type { ImportTable } from "../../bulk/import/table/open-table.ts";
import type { JournalHead } from "../../bulk/import/journal/journal-entry.ts";
import type { Client } from "../../client/client.ts";
import type { ImportRow, RowKind, RowValues } from "../../bulk/import/check/row-kind.ts";
import type { Deps } from "../kit/deps.ts";
import type { PlannedRequest } from "../kit/write-outcome.ts";
import type { ImportFlags } from "./import-flags.ts";
import type { RowSender } from "./row-senders.ts";

export interface SendOrder {
  readonly position: number;
  readonly rows: number;
}

export interface ImportRequest {
  readonly command: string;
  readonly input: string;
  readonly kind: RowKind;
  readonly defaults?: RowValues;
  /** Recorded in the journal in place of `defaults`, by flag. */
  readonly choices?: JournalHead["choices"];
  readonly overrides?: RowValues;
  readonly consent?: Consent;
  /** The confirmation question if no row schedules a survey, such as `Add 3 responses?`. */
  readonly question: (rows: number) => string;
  /** Describes what the rows will cause, such as survey dates; null if the service can't predict it. */
  readonly forecast?: (client: Client, rows: number) => Promise<string | null>;
  /** True if the rows remove people, so that it is safe to send an unchanged file again. */
  readonly isRemoval?: boolean;
  readonly flags: ImportFlags;
  readonly skipSuppressed?: boolean;
  readonly includesSuppressed?: boolean;
  readonly sample?: number | null;
  readonly spreadSeconds?: number | null;
  readonly plan: (row: ImportRow, order: SendOrder) => PlannedRequest;
  readonly createSender: (client: Client, signal: AbortSignal, rows: number) => RowSender;
}

interface Consent {
  readonly isGiven: boolean;
  /** The name of a field that also counts as consent if the file has a column for it. */
  readonly column?: string;
  /** The rest of the error if consent is missing, such as `can email your customers: pass --send or --no-send`. */
  readonly advice: string;
}

/** True if importing again would mail people twice, add responses twice, or bring back members who left. */
export function repeatDoesHarm({ isRemoval = false, overrides }: ImportRequest): boolean {
  return !isRemoval && overrides?.["send"] !== false;
}

export interface OpenedFile {
  readonly deps: Deps;
  readonly request: ImportRequest;
  readonly table: ImportTable;
}

export interface CheckedFile extends OpenedFile {
  readonly report: CheckReport;
}

export function checkFile({ deps, request, table }: OpenedFile): Promise<CheckReport> {
  const { flags, overrides, includesSuppressed } = request;
  const { onDuplicate, maxErrors } = flags;
  const skipsOptedOut = includesSuppressed === false && overrides?.["send"] !== false;
  return checkTable(table, { onDuplicate, maxErrors, skipsOptedOut, signal: deps.signal });
}

/** The choices that affect the requests, and so must stay the same when a run is resumed. */
export function choicesOf({ options }: Deps, request: ImportRequest): JournalHead["choices"] {
  const { defaults = {}, flags, spreadSeconds = null, skipSuppressed = false } = request;
  const ofRows = Object.entries(defaults).map(([name, value]) => [`--${name}`, value ?? null] as const);
  return {
    ...Object.fromEntries(ofRows),
    ...request.choices,
    "--spread": spreadSeconds,
    "--map": flags.renames.map(([header, meaning]) => [header, meaning]),
    "--ignore-column": [...flags.ignored],
    "--property": flags.properties,
    "--on-duplicate": flags.onDuplicate,
    "--delimiter": flags.delimiter,
    "--encoding": flags.encoding,
    "--sample": request.sample ?? null,
    "--skip-invalid": flags.skipInvalid,
    "--skip-suppressed": skipSuppressed,
    // Null instead of false, because journals of earlier versions don't have this flag.
    "--include-suppressed": request.includesSuppressed === true ? true : null,
    "--tz": options.timeZone,
  };
}
