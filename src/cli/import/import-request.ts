import type { CheckOptions } from "../../bulk/import/check/check.ts";
import type { Client } from "../../client/client.ts";
import type { RowKind, RowValues } from "../../bulk/import/check/row-kind.ts";
import type { ImportRow } from "../../bulk/import/check/row-kind.ts";
import type { Sender } from "../../bulk/import/send-rows.ts";
import type { Deps } from "../command/deps.ts";
import type { PlannedRequest } from "../command/dry-run.ts";
import type { ImportFlags } from "./import-flags.ts";

/** Where a row stands among those that are sent, for even spacing. */
export interface SendOrder {
  /** From 0. */
  readonly position: number;
  readonly rows: number;
}

/** What the bulk commands differ in; the rest is one pipeline. */
export interface ImportRequest {
  /** As users type it: `people import`. */
  readonly command: string;
  readonly input: string;
  readonly kind: RowKind;
  /** What flags say for rows that do not. */
  readonly defaults: RowValues;
  /** A column that decides where flags do not; `send` for people. */
  readonly decidingColumn: string | null;
  /** Whether flags decide what may be done without asking: `--send`, `--no-send`, or nothing to guard. */
  readonly decided: boolean;
  /** What is asked for where nothing decides: `say --send or --no-send, or have a "send" column`. */
  readonly guardAdvice: string;
  readonly flags: ImportFlags;
  readonly skipSuppressed: boolean;
  /** Seconds over which surveys are spaced evenly; null: not at all. */
  readonly spreadSeconds: number | null;
  /** A repeat of the whole import would do harm: mail people again, add responses twice. */
  readonly harmfulTwice: boolean;
  /** The request that a row becomes, for `--dry-run`, `--explain` and sending. */
  readonly plan: (row: ImportRow, order: SendOrder) => PlannedRequest;
  /** `rows` as in `SendOrder`. */
  readonly createSender: (client: Client, signal: AbortSignal, rows: number) => Sender;
}

/** The same person may answer often: responses have no duplicates. */
export function checkOptions(
  { signal }: Deps,
  { kind, flags: { onDuplicate, maxErrors } }: ImportRequest,
): CheckOptions {
  return { onDuplicate, maxErrors, unique: kind.name !== "responses", signal };
}
