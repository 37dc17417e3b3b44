/** The flags that every command has, and what they are parsed into. */
import { TIME_FORMATS, type TimeFormat } from "../render/time.ts";
import type { FlagRecord } from "./flag-record.ts";

export const OUTPUT_FORMATS = ["table", "record", "json", "ndjson", "csv", "tsv"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** Requests at once unless `--concurrency` says otherwise. */
export const CONCURRENCY_DEFAULT = 8;

export interface GlobalOptions {
  /** From the flag only, like `baseUrl`: `config` adds the environment, so that each value remembers its source. */
  readonly profile: string | null;
  readonly baseUrl: string | null;
  /** Null: the command's own default for a terminal or a pipe. */
  readonly output: OutputFormat | null;
  readonly columns: readonly string[] | null;
  readonly time: TimeFormat | null;
  /** IANA zone for reading and writing local times; null: the system's. */
  readonly timeZone: string | null;
  /** CSV unless another format is named, with a byte order mark, CRLF and no formulas. */
  readonly excel: boolean;
  readonly timeoutMs: number | null;
  readonly retries: number | null;
  readonly maxWaitMs: number | null;
  /** The time for which a write whose answer was lost is checked for. */
  readonly settleMs: number | null;
  readonly concurrency: number | null;
  readonly ratePerSecond: number | null;
  readonly insecureHttp: boolean;
  readonly quiet: boolean;
  /** 0, 1 (requests and responses), 2 (bodies too). */
  readonly verbosity: 0 | 1 | 2;
  readonly showPersonalData: boolean;
  readonly color: boolean;
  /** False where the locale knows ASCII alone: then nothing of ours is drawn with other characters. */
  readonly unicode: boolean;
  readonly dryRun: boolean;
}

export type FlagGroup = "Output" | "Connection";

export interface GlobalFlag extends FlagRecord {
  readonly group: FlagGroup;
}

export const GLOBAL_FLAGS: readonly GlobalFlag[] = [
  {
    group: "Output",
    flag: "--output",
    short: "-o",
    value: "format",
    text: "output format",
    choices: OUTPUT_FORMATS,
    environment: "SURVEYCTL_OUTPUT",
    otherwise: "table on a terminal, tsv in a pipe, csv for export",
  },
  { group: "Output", flag: "--json", text: "short for -o json" },
  {
    group: "Output",
    flag: "--query",
    value: "expression",
    text: "print only part of the JSON, by a JMESPath expression such as [].email; text is printed without quotes",
  },
  {
    group: "Output",
    flag: "--columns",
    value: "names",
    text: "columns to show, in order, such as id,person.email",
    repeatable: true,
  },
  {
    group: "Output",
    flag: "--time",
    value: "format",
    text: "time format",
    choices: TIME_FORMATS,
    environment: "SURVEYCTL_TIME",
    otherwise: "local in tables, iso in csv and tsv",
  },
  {
    group: "Output",
    flag: "--tz",
    value: "zone",
    text: "time zone of local times, on input and output",
    otherwise: "that of the system",
  },
  {
    group: "Output",
    flag: "--excel",
    text: "CSV for Excel: starts with a byte order mark, ends lines with \\r\\n, and prefixes formulas with '",
  },
  { group: "Output", flag: "--quiet", short: "-q", text: "suppress notes and progress" },
  {
    group: "Output",
    flag: "--verbose",
    short: "-v",
    text: "print each request and response to stderr; twice, with bodies",
    counted: true,
    environment: "SURVEYCTL_DEBUG",
  },
  {
    group: "Output",
    flag: "--show-personal-data",
    text: "do not mask personal data in bodies that --verbose prints",
  },
  { group: "Output", flag: "--no-color", text: "disable color", environment: "NO_COLOR" },
  {
    group: "Output",
    flag: "--dry-run",
    text: "print the requests that would be sent as JSON, and send nothing",
  },
  {
    group: "Connection",
    flag: "--profile",
    value: "name",
    text: "saved connection to use",
    environment: "SURVEYCTL_PROFILE",
  },
  {
    group: "Connection",
    flag: "--base-url",
    value: "url",
    text: "base URL of the service",
    environment: "SURVEYCTL_BASE_URL",
  },
  { group: "Connection", flag: "--insecure-http", text: "allow plain http:// to remote hosts" },
  { group: "Connection", flag: "--timeout", value: "duration", text: "time to wait for a response", otherwise: "30s" },
  { group: "Connection", flag: "--retries", value: "n", text: "number of retries", otherwise: "5" },
  {
    group: "Connection",
    flag: "--max-wait",
    value: "duration",
    text: "maximum Retry-After to honor",
    otherwise: "5m",
  },
  {
    group: "Connection",
    flag: "--settle",
    value: "duration",
    text: "how long to check whether a write without an answer arrived",
    environment: "SURVEYCTL_SETTLE",
    otherwise: "30s",
  },
  {
    group: "Connection",
    flag: "--concurrency",
    value: "n",
    text: "number of concurrent requests",
    otherwise: String(CONCURRENCY_DEFAULT),
  },
  { group: "Connection", flag: "--rate", value: "rate", text: "maximum requests per second, such as 10 or 600/m" },
];
