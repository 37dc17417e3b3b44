/** The flags that every command has, as data: the parser, the help and `help --json` read this table. */
import { CONCURRENCY_DEFAULT, OUTPUT_FORMATS } from "./global-options.ts";
import { TIME_FORMATS } from "../render/time.ts";

export type FlagGroup = "Output" | "Connection";

export interface GlobalFlag {
  readonly flags: string;
  readonly description: string;
  readonly group: FlagGroup;
  /** Environment variable that gives the value where the flag does not. */
  readonly environment?: string;
  readonly default?: string;
  readonly choices?: readonly string[];
  /** Counted each time it is given. */
  readonly counted?: boolean;
  /** Collected each time it is given. */
  readonly repeatable?: boolean;
}

export const GLOBAL_FLAGS: readonly GlobalFlag[] = [
  {
    group: "Output",
    flags: "-o, --output <format>",
    description: "output format",
    choices: OUTPUT_FORMATS,
    environment: "SURVEYCTL_OUTPUT",
    default: "table on a terminal, tsv in a pipe, csv for export",
  },
  { group: "Output", flags: "--json", description: "short for -o json" },
  {
    group: "Output",
    flags: "--columns <names>",
    description: "columns to show, in order, such as id,person.email",
    repeatable: true,
  },
  {
    group: "Output",
    flags: "--time <format>",
    description: "time format",
    choices: TIME_FORMATS,
    environment: "SURVEYCTL_TIME",
    default: "local in tables, iso in csv and tsv",
  },
  {
    group: "Output",
    flags: "--tz <zone>",
    description: "time zone of local times, on input and output",
    default: "that of the system",
  },
  { group: "Output", flags: "--bom", description: "csv: start with a byte order mark" },
  { group: "Output", flags: "--crlf", description: "csv: end lines with \\r\\n" },
  { group: "Output", flags: "--excel-safe", description: "csv and tsv: prefix formula-like cells with '" },
  { group: "Output", flags: "--excel", description: "short for --bom --crlf --excel-safe" },
  { group: "Output", flags: "-q, --quiet", description: "only print errors" },
  {
    group: "Output",
    flags: "-v, --verbose",
    description: "print each request and response to stderr; twice, with bodies",
    counted: true,
    environment: "SURVEYCTL_DEBUG",
  },
  {
    group: "Output",
    flags: "--show-personal-data",
    description: "do not mask personal data in bodies that --verbose prints",
  },
  { group: "Output", flags: "--no-color", description: "disable colour", environment: "NO_COLOR" },
  {
    group: "Output",
    flags: "--dry-run",
    description: "print the requests that would be sent as JSON, and send nothing",
  },
  {
    group: "Connection",
    flags: "--profile <name>",
    description: "saved connection to use",
    environment: "SURVEYCTL_PROFILE",
  },
  {
    group: "Connection",
    flags: "--base-url <url>",
    description: "base URL of the service",
    environment: "SURVEYCTL_BASE_URL",
  },
  { group: "Connection", flags: "--insecure-http", description: "allow plain http:// to remote hosts" },
  { group: "Connection", flags: "--timeout <duration>", description: "time to wait for a response", default: "30s" },
  { group: "Connection", flags: "--retries <n>", description: "number of retries", default: "5" },
  {
    group: "Connection",
    flags: "--max-wait <duration>",
    description: "maximum Retry-After to honour",
    default: "5m",
  },
  {
    group: "Connection",
    flags: "--settle <duration>",
    description: "how long to check whether a write without an answer arrived",
    environment: "SURVEYCTL_SETTLE",
    default: "30s",
  },
  {
    group: "Connection",
    flags: "--concurrency <n>",
    description: "number of concurrent requests",
    default: String(CONCURRENCY_DEFAULT),
  },
  { group: "Connection", flags: "--rate <rate>", description: "maximum requests per second, such as 10 or 600/m" },
];
