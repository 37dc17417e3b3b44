/** The flags of every bulk import, and their values. */
import { quoteText } from "../../contract/text/invisible.ts";
import type { DuplicatePolicy } from "../../bulk/import/check/check.ts";
import type { JsonObject } from "../../contract/json.ts";
import { parseChoice, parseInteger, parseKeyValue, parseOutputFile } from "../args/values.ts";
import type { FlagRecord } from "../args/flag-record.ts";
import type { Flags } from "../args/flags.ts";
import { YES_FLAG } from "../command/removal.ts";
import { UsageError } from "../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

export interface ImportFlags {
  /** Null: detected. */
  readonly delimiter: string | null;
  /** Null: UTF-8, or UTF-16 with a byte order mark. */
  readonly encoding: string | null;
  readonly renames: readonly (readonly [string, string])[];
  readonly ignored: readonly string[];
  readonly properties: JsonObject;
  readonly onDuplicate: DuplicatePolicy | null;
  readonly skipInvalid: boolean;
  readonly maxErrors: number;
  readonly explain: number | null;
  /** Null: next to the input. */
  readonly results: string | null;
  readonly failedTo: string | null;
  readonly resume: boolean;
  readonly retryUnknown: boolean;
  readonly yes: boolean;
}

export const IMPORT_EXITS: readonly ExitCode[] = [
  EXIT.done,
  EXIT.failed,
  EXIT.usage,
  EXIT.partial,
  EXIT.auth,
  EXIT.refused,
  EXIT.interrupted,
  EXIT.terminated,
];
export const FILE_OPERAND = ["<file>", "a CSV, TSV or NDJSON file, plain or gzip, or - for standard input"] as const;

const DUPLICATE_POLICIES = ["error", "first", "last"] as const;
const MAX_ERRORS_DEFAULT = "20";

export const IMPORT_FLAGS: readonly FlagRecord[] = [
  {
    flag: "--map",
    value: "header=column",
    text: 'map a header to a column, such as "E-Mail Address=email" or "First name+Last name=name"',
    repeatable: true,
  },
  { flag: "--ignore-column", value: "header", text: "ignore a column", repeatable: true },
  { flag: "--property", value: "key=value", text: "property for every row", repeatable: true },
  { flag: "--delimiter", value: "char", text: "field delimiter: one character, or tab", otherwise: "auto-detected" },
  {
    flag: "--encoding",
    value: "name",
    text: "the file's encoding, such as windows-1252 or utf-16",
    otherwise: "UTF-8, or UTF-16 with a byte order mark",
  },
  {
    flag: "--on-duplicate",
    value: "policy",
    text: "if a person, or a response, appears twice: refuse the file, or keep the first or the last row",
    choices: DUPLICATE_POLICIES,
    otherwise: "first, with a warning",
  },
  { flag: "--skip-invalid", text: "skip invalid rows instead of refusing the file" },
  { flag: "--allow-empty", text: "accept a file that has no rows, as is done without it" },
  { flag: "--max-errors", value: "n", text: "maximum number of problems to list", default: MAX_ERRORS_DEFAULT },
  { flag: "--explain", value: "line", text: "show how one line is read and validated, then stop" },
  { flag: "--results", value: "file", text: "per-row results file", otherwise: "<file>.<command>.results.csv" },
  { flag: "--failed-to", value: "file", text: "write rows that failed or were invalid to a CSV file, to correct them" },
  { flag: "--resume", text: "continue an earlier run, if there is one; of a file that has grown, send the new rows" },
  { flag: "--retry-unknown", text: "also retry rows whose outcome is unknown" },
  YES_FLAG,
];

export const INCLUDE_SUPPRESSED_FLAG: FlagRecord = {
  flag: "--include-suppressed",
  text: "survey people for whom the file has an unsubscribed_at, bounced_at or the like, too",
};

export function readImportFlags(flags: Flags): ImportFlags {
  return {
    delimiter: flags.parse("--delimiter", parseDelimiter),
    encoding: flags.text("--encoding"),
    renames: flags.all("--map").map((text) => parseRename(text)),
    ignored: flags.all("--ignore-column"),
    properties: Object.fromEntries(flags.all("--property").map((text) => parseKeyValue(text, "--property"))),
    onDuplicate: flags.parse("--on-duplicate", (text, place) => parseChoice(text, place, DUPLICATE_POLICIES)),
    skipInvalid: flags.is("--skip-invalid"),
    maxErrors:
      flags.parse("--max-errors", (text, place) => parseInteger(text, place, { min: 1 })) ?? Number(MAX_ERRORS_DEFAULT),
    explain: flags.parse("--explain", (text, place) => parseInteger(text, place, { min: 1 })),
    results: flags.parse("--results", parseOutputFile),
    failedTo: flags.parse("--failed-to", parseOutputFile),
    resume: flags.is("--resume"),
    retryUnknown: flags.is("--retry-unknown"),
    yes: flags.is("--yes"),
  };
}

function parseDelimiter(text: string, place: string): string {
  if (text === "tab" || text === "\\t") return "\t";
  if (/^[^"\r\n]$/u.test(text)) return text;
  throw new UsageError(`${place}: ${quoteText(text)} must be one character, or tab`);
}

/** A header may hold `=`; what it means never does. */
export function parseRename(text: string): [string, string] {
  const at = text.lastIndexOf("=");
  if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`--map: ${quoteText(text)} is not header=column, as in "E-Mail Address=email"`);
}
