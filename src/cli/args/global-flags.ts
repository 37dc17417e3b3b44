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
    description: "columns in order; dotted paths reach inside",
    repeatable: true,
  },
  {
    group: "Output",
    flags: "--time <format>",
    description: "how times are written",
    choices: TIME_FORMATS,
    environment: "SURVEYCTL_TIME",
    default: "local in tables, iso in csv and tsv",
  },
  {
    group: "Output",
    flags: "--tz <zone>",
    description: "time zone for reading and writing local times",
    default: "the system's",
  },
  { group: "Output", flags: "-q, --quiet", description: "no progress, no notes; errors still" },
  {
    group: "Output",
    flags: "-v, --verbose",
    description: "each request and response on stderr; twice: bodies too",
    counted: true,
    environment: "SURVEYCTL_DEBUG",
  },
  { group: "Output", flags: "--show-personal-data", description: "do not mask people in --verbose --verbose" },
  { group: "Output", flags: "--no-color", description: "no colour", environment: "NO_COLOR" },
  { group: "Output", flags: "--dry-run", description: "for writes: print each request as JSON, send nothing" },
  {
    group: "Connection",
    flags: "--profile <name>",
    description: "which saved connection",
    environment: "SURVEYCTL_PROFILE",
  },
  {
    group: "Connection",
    flags: "--base-url <url>",
    description: "the service's address",
    environment: "SURVEYCTL_BASE_URL",
  },
  { group: "Connection", flags: "--insecure-http", description: "allow http:// beyond this machine" },
  { group: "Connection", flags: "--timeout <duration>", description: "how long to wait for an answer", default: "30s" },
  { group: "Connection", flags: "--retries <n>", description: "repeats after the first try", default: "5" },
  {
    group: "Connection",
    flags: "--max-wait <duration>",
    description: "longest Retry-After to wait for",
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
    description: "requests at once",
    default: String(CONCURRENCY_DEFAULT),
  },
  { group: "Connection", flags: "--rate <rate>", description: "requests a second at most, as in 10 or 600/m" },
];
