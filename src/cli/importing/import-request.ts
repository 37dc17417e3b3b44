import type { CheckOptions, CheckReport } from "../../bulk/import/check/check.ts";
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

/** What one bulk command does differently from the others. */
export interface ImportRequest {
  /** As users type it: `people import`. */
  readonly command: string;
  /** In the names of files: `people-import`. */
  readonly fileName: string;
  readonly input: string;
  readonly kind: RowKind;
  /** Values for rows that have none of their own. */
  readonly defaults: RowValues;
  /** Choices that take the place of `defaults` in the journal, by flag. */
  readonly choices?: JournalHead["choices"];
  readonly overrides: RowValues;
  /** The column that stands for consent to send. */
  readonly consentColumn: string | null;
  /** Consent by flags, or not needed. */
  readonly consented: boolean;
  /** Without consent: `can email your customers: pass --send or --no-send`. */
  readonly guardAdvice: string;
  /** `Add 3 responses?`, for rows that schedule no surveys. */
  readonly question: (rows: number) => string;
  /** A line about the effect of so many rows; null if the service doesn't know it. */
  readonly forecast?: (client: Client, rows: number) => Promise<string | null>;
  /** The summary's word for a row that was saved: `removed`. */
  readonly savedWord: string;
  readonly flags: ImportFlags;
  readonly skipSuppressed: boolean;
  /** `--include-suppressed`; absent if the command surveys nobody. */
  readonly includesSuppressed?: boolean;
  /** The plan counts those who would get no survey, by our own service's answer. */
  readonly asksStatuses?: boolean;
  readonly sample?: number | null;
  readonly spreadSeconds: number | null;
  /** Repeating the import would do harm: mail people again, add responses twice, bring back members who left. */
  readonly repeatDoesHarm: boolean;
  /** An unchanged file is sent again, as a removal is. */
  readonly runsAgain?: boolean;
  readonly plan: (row: ImportRow, order: SendOrder) => PlannedRequest;
  readonly createSender: (client: Client, signal: AbortSignal, rows: number) => RowSender;
}

export interface CheckedFile {
  readonly deps: Deps;
  readonly request: ImportRequest;
  readonly table: ImportTable;
  readonly report: CheckReport;
}

export function checkOptions({ signal }: Deps, { flags, overrides, includesSuppressed }: ImportRequest): CheckOptions {
  const { onDuplicate, maxErrors } = flags;
  const skipsOptedOut = includesSuppressed === false && overrides["send"] !== false;
  return { onDuplicate, maxErrors, skipsOptedOut, signal };
}

/** Everything that changes requests, or which rows are sent: a resumed run must share it. */
export function choicesOf({ options }: Deps, request: ImportRequest): JournalHead["choices"] {
  const { defaults, flags, spreadSeconds, skipSuppressed } = request;
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
    // Journals of earlier versions lack it.
    "--include-suppressed": request.includesSuppressed === true ? true : null,
    "--tz": options.timeZone,
  };
}
