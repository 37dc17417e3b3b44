import type { CheckOptions } from "../../bulk/import/check/check.ts";
import type { JournalHead } from "../../bulk/import/journal/journal-entry.ts";
import type { Client } from "../../client/client.ts";
import type { ImportRow, RowKind, RowValues } from "../../bulk/import/check/row-kind.ts";
import type { Deps } from "../command/deps.ts";
import type { PlannedRequest } from "../command/write-outcome.ts";
import type { ImportFlags } from "./import-flags.ts";
import type { RowSender } from "./row-senders.ts";

/** The place of a row among those that are sent, for even spacing. */
export interface SendOrder {
  /** From 0. */
  readonly position: number;
  readonly rows: number;
}

/** The differences of the bulk commands; the rest is one pipeline. */
export interface ImportRequest {
  /** As users type it: `people import`. */
  readonly command: string;
  /** In the names of files: `people-import`. */
  readonly fileName: string;
  readonly input: string;
  readonly kind: RowKind;
  /** Values from flags for rows that have none of their own. */
  readonly defaults: RowValues;
  /** Choices that a resumed run must share in place of the values in `defaults`, by flag. */
  readonly choices?: JournalHead["choices"];
  /** Values from flags that hold for every row. */
  readonly overrides: RowValues;
  /** A column that gives consent where flags do not; `send` for people. */
  readonly consentColumn: string | null;
  /** True when flags give consent: `--send`, `--no-send`, or a command that needs none. */
  readonly consented: boolean;
  /** Advice where nothing gives consent: `can email your customers: pass --send or --no-send`. */
  readonly guardAdvice: string;
  /** The question before so many rows that schedule no surveys are sent: `Add 3 responses?`. */
  readonly question: (rows: number) => string;
  /** One line about the effect of so many rows, told before they are sent; null where the service does not know it. */
  readonly forecast?: (client: Client, rows: number) => Promise<string | null>;
  /** The summary's word for a row that was saved: `removed`. */
  readonly savedWord: string;
  readonly flags: ImportFlags;
  readonly skipSuppressed: boolean;
  /** `--include-suppressed`; absent if the command surveys nobody. */
  readonly includesSuppressed?: boolean;
  /** The plan counts those whom our own service would send no survey. */
  readonly asksStatuses?: boolean;
  /** The share of the rows that is sent, from 0 to 1; absent: all of them. */
  readonly sample?: number | null;
  /** Seconds over which surveys are spaced evenly; null: not at all. */
  readonly spreadSeconds: number | null;
  /** Repeating the import would do harm: mail people again, add responses twice, bring back members who left. */
  readonly repeatDoesHarm: boolean;
  /** An unchanged file is sent again, as a removal is. */
  readonly runsAgain?: boolean;
  /** The request that a row becomes, for `--dry-run`, `--explain` and sending. */
  readonly plan: (row: ImportRow, order: SendOrder) => PlannedRequest;
  /** `rows` as in `SendOrder`. */
  readonly createSender: (client: Client, signal: AbortSignal, rows: number) => RowSender;
}

export function checkOptions({ signal }: Deps, { flags, overrides, includesSuppressed }: ImportRequest): CheckOptions {
  const { onDuplicate, maxErrors } = flags;
  const skipsOptedOut = includesSuppressed === false && overrides["send"] !== false;
  return { onDuplicate, maxErrors, skipsOptedOut, signal };
}

/** Everything that changes requests, or which rows are sent, by flag: a resumed run must not differ in it. */
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
