import { CONCURRENCY_DEFAULT } from "../../contract/limits.ts";
import { quoteText } from "../../contract/text/invisible.ts";
import { UsageError } from "../errors/usage-error.ts";
import { TIME_FORMATS } from "../render/time.ts";
import { type Environment, variable, wantsColor, wantsUnicode } from "./environment.ts";
import { type FlagRecord, flagOf, type KeyedRecord, type ParsedOf, recordsByKey } from "./flag-record.ts";
import type { Flags } from "./flags.ts";
import { parseZone } from "./time.ts";
import { integerParser, parseChoice, parseDuration, parseNames, parseRate } from "./values.ts";

const OUTPUT_FORMATS = ["table", "record", "json", "ndjson", "csv", "tsv", "markdown"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

interface GlobalFlag extends KeyedRecord {
  /** Parses the value of the flag or of its environment variable. Throws a UsageError that names `place`. */
  readonly parse?: (text: string, place: string) => unknown;
  /** Replaces `parse` for an option that depends on more than its own flag. */
  readonly read?: (flags: Flags, env: Environment, isTerminal: boolean) => unknown;
}

/** Options whose variable has no parser here are read by `config`, which records where each value came from. */
const OUTPUT = {
  output: {
    short: "-o",
    value: "format",
    text: "output format",
    choices: OUTPUT_FORMATS,
    environment: "SURVEYCTL_OUTPUT",
    otherwise: "table on a terminal, tsv in a pipe, csv for export",
    /** Null means the command's default for a terminal or a pipe. */
    read: (flags: Flags, env: Environment) => readOutput<never>(flags, env),
  },
  json: { text: "short for -o json" },
  query: {
    value: "expression",
    text: "filter the JSON with a JMESPath expression such as [].email; text is printed without quotes",
  },
  columns: {
    value: "names",
    text: "columns to show, in order, such as id,person.email",
    repeatable: true,
    read: readColumns,
  },
  time: {
    value: "format",
    text: "time format",
    choices: TIME_FORMATS,
    environment: "SURVEYCTL_TIME",
    otherwise: "local in tables, iso in csv and tsv",
  },
  timeZone: {
    flag: "--tz",
    value: "zone",
    text: "time zone of local times, on input and output",
    otherwise: "the system's",
    parse: parseZone,
  },
  excel: {
    text: "write CSV for Excel: adds a byte order mark, ends lines with \\r\\n, and puts ' before formulas",
  },
  quiet: { short: "-q", text: "suppress notes and progress" },
  verbosity: {
    flag: "--verbose",
    short: "-v",
    text: "print each request and response to stderr; repeat (-vv) to include bodies",
    counted: true,
    environment: "SURVEYCTL_DEBUG",
    read: readVerbosity,
  },
  showPersonalData: {
    text: "do not mask personal data in bodies that --verbose prints",
  },
  color: {
    flag: "--no-color",
    text: "disable color",
    environment: "NO_COLOR",
    read: (flags: Flags, env: Environment, isTerminal: boolean) => flags.is("--color") && wantsColor(env, isTerminal),
  },
  dryRun: {
    text: "print the requests as JSON instead of sending them",
  },
} as const satisfies Readonly<Record<string, GlobalFlag>>;

const CONNECTION = {
  profile: {
    value: "name",
    text: "saved connection to use",
    environment: "SURVEYCTL_PROFILE",
  },
  baseUrl: {
    value: "url",
    text: "base URL of the service",
    environment: "SURVEYCTL_BASE_URL",
  },
  insecureHttp: { text: "allow plain http:// to remote hosts" },
  timeoutMs: {
    flag: "--timeout",
    value: "duration",
    text: "time to wait for a response",
    otherwise: "30s",
    parse: parseTimeout,
  },
  retries: {
    value: "n",
    text: "number of retries",
    otherwise: "5",
    parse: integerParser({ min: 0, max: 100 }),
  },
  maxWaitMs: {
    flag: "--max-wait",
    value: "duration",
    text: "maximum Retry-After to honor",
    otherwise: "5m",
    parse: parseMilliseconds,
  },
  settleMs: {
    flag: "--settle",
    value: "duration",
    text: "how long to check whether a write arrived if no response came",
    environment: "SURVEYCTL_SETTLE",
    otherwise: "30s",
    parse: parseMilliseconds,
  },
  concurrency: {
    value: "n",
    text: "number of concurrent requests",
    default: String(CONCURRENCY_DEFAULT),
    parse: integerParser({ min: 1, max: 256 }),
  },
  ratePerSecond: {
    flag: "--rate",
    value: "rate",
    text: "maximum requests per second, such as 10 or 600/m",
    parse: parseRate,
  },
} as const satisfies Readonly<Record<string, GlobalFlag>>;

export const GLOBAL_SECTIONS: Readonly<Record<string, readonly FlagRecord[]>> = {
  Output: recordsByKey(OUTPUT),
  Connection: recordsByKey(CONNECTION),
};
export const GLOBAL_FLAGS: readonly FlagRecord[] = Object.values(GLOBAL_SECTIONS).flat();

type OptionOf<Flag> = Flag extends { readonly read: (...given: never[]) => infer Value }
  ? Value
  : Flag extends { readonly value: string }
    ? Flag extends { readonly default: string }
      ? ParsedOf<Flag>
      : ParsedOf<Flag> | null
    : boolean;

type Globals = typeof OUTPUT & typeof CONNECTION;

export type GlobalOptions = { readonly [Name in keyof Globals]: OptionOf<Globals[Name]> } & {
  /** False for a locale without UTF-8; everything is then drawn in ASCII. */
  readonly unicode: boolean;
};

export function readGlobalOptions(
  flags: Flags,
  env: Environment,
  isTerminal: boolean,
  own: ReadonlySet<string> = new Set(),
): GlobalOptions {
  const options = Object.entries<GlobalFlag>({ ...OUTPUT, ...CONNECTION }).map(([name, keyed]) => {
    const spec = { flag: flagOf(name), ...keyed };
    if (spec.value !== undefined && own.has(spec.flag)) return [name, null];
    return [name, (spec.read ?? readPlain.bind(null, spec))(flags, env, isTerminal)];
  });
  return { ...(Object.fromEntries(options) as Omit<GlobalOptions, "unicode">), unicode: wantsUnicode(env) };
}

function readPlain(
  { flag, value, choices = [], environment, ...spec }: GlobalFlag & FlagRecord,
  flags: Flags,
  env: Environment,
): unknown {
  if (value === undefined) return flags.is(flag);
  const text = flags.text(flag);
  const parse = spec.parse ?? ((choice: string, place: string) => parseChoice(choice, place, choices));
  if (spec.parse === undefined && choices.length === 0) return text;
  if (text !== null) return parse(text, flag);
  const fallback = environment === undefined ? null : variable(env, environment);
  return environment === undefined || fallback === null ? null : parse(fallback, environment);
}

/** The `--output` flag of a command that supports one more format, `own`. */
export function outputFlags(own: string, text: string): readonly FlagRecord[] {
  return [
    {
      flag: "--output",
      short: "-o",
      value: "format",
      text,
      choices: [...OUTPUT_FORMATS, own],
      environment: "SURVEYCTL_OUTPUT",
      otherwise: "table on a terminal, tsv in a pipe",
    },
    { flag: "--json", text: "short for -o json" },
  ];
}

export function readOutput<Own extends string>(
  flags: Flags,
  env: Environment,
  ...own: readonly Own[]
): OutputFormat | Own | null {
  const formats: readonly (OutputFormat | Own)[] = [...OUTPUT_FORMATS, ...own];
  const named = flags.text("--output");
  const short = flags.text("--query") !== null ? "--query" : flags.is("--json") ? "--json" : null;
  if (short !== null && named !== null && named !== "json")
    throw new UsageError(`${short} and --output ${named} cannot be used together`);
  if (short !== null) return "json";
  if (named !== null) return parseChoice(named, "--output", formats);
  // --excel also selects a format, and flags come before the environment.
  const fallback = flags.is("--excel") ? null : variable(env, "SURVEYCTL_OUTPUT");
  return fallback === null ? null : parseChoice(fallback, "SURVEYCTL_OUTPUT", formats);
}

function parseMilliseconds(text: string, place: string): number {
  return parseDuration(text, place) * 1000;
}

function parseTimeout(text: string, place: string): number {
  const ms = parseMilliseconds(text, place);
  if (ms > 0) return ms;
  throw new UsageError(`${place}: must be at least 1s (got ${quoteText(text)})`);
}

function readColumns(flags: Flags): readonly string[] | null {
  const names = flags.all("--columns");
  return names.length === 0 ? null : parseNames(names, "--columns");
}

function readVerbosity(flags: Flags, env: Environment): 0 | 1 | 2 {
  const debug = variable(env, "SURVEYCTL_DEBUG");
  const asked = Math.max(flags.count("--verbose"), debug === null || debug === "0" ? 0 : debug === "2" ? 2 : 1);
  return asked >= 2 ? 2 : asked === 1 ? 1 : 0;
}
