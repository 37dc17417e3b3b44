import { quoteText } from "../../contract/text/invisible.ts";
import type { JsonObject } from "../../contract/json.ts";
import { parseCount, parseKeyValue, parseOutputFile } from "../args/values.ts";
import type { FlagRecord } from "../args/flag-record.ts";
import { YES_FLAG } from "../kit/removal.ts";
import { UsageError } from "../errors/usage-error.ts";
import { API_EXITS, EXIT, type ExitCode } from "../exit-codes.ts";
import { type FlagGroup, flagGroup, type GroupValue } from "../kit/flag-spec.ts";

export const IMPORT_EXITS: readonly ExitCode[] = [...API_EXITS, EXIT.partial, EXIT.interrupted, EXIT.terminated];
export const FILE_ARG = {
  form: "<file>",
  text: "a CSV, TSV or NDJSON file, plain or gzip, or - for standard input",
} as const;

const PROPERTIES: FlagGroup<JsonObject> = {
  records: [{ flag: "--property", value: "key=value", text: "property for every row", repeatable: true }],
  read: (flags) => Object.fromEntries(flags.all("--property").map((text) => parseKeyValue(text, "--property"))),
};

export const IMPORT = flagGroup({
  renames: {
    flag: "--map",
    value: "header=column",
    text: 'map a header to a column, such as "E-Mail Address=email" or "First name+Last name=name"',
    repeatable: true,
    parse: parseRename,
  },
  ignored: { flag: "--ignore-column", value: "header", text: "ignore a column", repeatable: true },
  properties: PROPERTIES,
  delimiter: {
    value: "char",
    text: "field delimiter: one character, or tab",
    otherwise: "auto-detected",
    parse: parseDelimiter,
  },
  encoding: {
    value: "name",
    text: "the file's encoding, such as windows-1252 or utf-16",
    otherwise: "UTF-8, or UTF-16 with a byte order mark",
  },
  onDuplicate: {
    value: "policy",
    text: "if a person, or a response, appears twice: refuse the file, or keep the first or the last row",
    choices: ["error", "first", "last"],
    otherwise: "first, with a warning",
  },
  skipInvalid: { text: "skip invalid rows instead of refusing the file" },
  allowEmpty: { text: "no effect: a file without rows is accepted anyway" },
  maxErrors: {
    value: "n",
    text: "maximum number of problems to list",
    default: "20",
    parse: parseCount,
  },
  explain: {
    value: "line",
    text: "show how one line is read and validated, then stop",
    parse: parseCount,
  },
  results: {
    value: "file",
    text: "per-row results file",
    otherwise: "<file>.<command>.results.csv",
    parse: parseOutputFile,
  },
  failedTo: {
    value: "file",
    text: "write rows that failed or were invalid to a CSV file, to correct them",
    parse: parseOutputFile,
  },
  resume: {
    text: "continue an earlier run, if there is one, or send the new rows of a file that has grown",
  },
  retryUnknown: { text: "also retry rows whose outcome is unknown" },
  yes: YES_FLAG,
});

export type ImportFlags = GroupValue<typeof IMPORT>;

export const INCLUDE_SUPPRESSED_FLAG: FlagRecord = {
  flag: "--include-suppressed",
  text: "also survey people with an unsubscribed_at, bounced_at or similar in the file",
};

function parseDelimiter(text: string, place: string): string {
  if (text === "tab" || text === "\\t") return "\t";
  if (/^[^"\r\n]$/u.test(text)) return text;
  throw new UsageError(`${place}: ${quoteText(text)} must be one character, or tab`);
}

/** Splits at the last `=`, because a header can contain `=` but a field's name can't. */
export function parseRename(text: string): readonly [string, string] {
  const at = text.lastIndexOf("=");
  if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`--map: ${quoteText(text)} is not header=column, as in "E-Mail Address=email"`);
}
