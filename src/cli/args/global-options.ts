import type { TimeFormat } from "../render/time.ts";

export const OUTPUT_FORMATS = ["table", "json", "ndjson", "csv", "tsv"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** Requests at once unless `--concurrency` says otherwise. */
export const CONCURRENCY_DEFAULT = 8;

/** The flags that every command has (design: "Every command has"), parsed into their final types. */
export interface GlobalOptions {
  /** The flag alone, like `baseUrl`: the environment's are told apart, so that each value remembers its source. */
  readonly profile: string | null;
  readonly baseUrl: string | null;
  /** Null: the command's own default for a terminal or a pipe. */
  readonly output: OutputFormat | null;
  readonly columns: readonly string[] | null;
  readonly time: TimeFormat | null;
  /** IANA zone for reading and writing local times; null: the system's. */
  readonly timeZone: string | null;
  readonly timeoutMs: number | null;
  readonly retries: number | null;
  readonly maxWaitMs: number | null;
  /** How long a write whose answer was lost is checked for. */
  readonly settleMs: number | null;
  readonly concurrency: number | null;
  /** Requests a second, never passed. */
  readonly ratePerSecond: number | null;
  readonly insecureHttp: boolean;
  readonly quiet: boolean;
  /** 0, 1 (requests and responses), 2 (bodies too). */
  readonly verbosity: 0 | 1 | 2;
  readonly showPersonalData: boolean;
  readonly color: boolean;
  readonly dryRun: boolean;
}
