import { quoteText } from "../../contract/text/invisible.ts";
import { UsageError } from "../errors/usage-error.ts";
import { TIME_FORMATS } from "../render/time.ts";
import { parseChoice, parseDuration, parseInteger, parseNames, parseRate } from "./values.ts";
import type { Flags } from "./flags.ts";
import { type GlobalOptions, OUTPUT_FORMATS, type OutputFormat } from "./global-options.ts";
import { parseZone } from "./time.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

const CONCURRENCY_MAX = 256;
const RETRIES_MAX = 100;

/**
 * A flag takes precedence over the environment. `own` are flags that mean something else to the command: it reads them
 * itself. Throws UsageError with the flag or variable at fault.
 */
export function readGlobalOptions(
  flags: Flags,
  env: Environment,
  isTerminal: boolean,
  own: ReadonlySet<string> = new Set(),
): GlobalOptions {
  return {
    profile: flags.text("--profile"),
    baseUrl: flags.text("--base-url"),
    output: own.has("--output") ? null : readOutput(flags, env),
    columns: flags.all("--columns").length === 0 ? null : parseNames(flags.all("--columns"), "--columns"),
    time: either(flags.text("--time"), "--time", env, "SURVEYCTL_TIME", (text, place) =>
      parseChoice(text, place, TIME_FORMATS),
    ),
    timeZone: own.has("--tz") ? null : flags.parse("--tz", parseZone),
    excel: flags.is("--excel"),
    timeoutMs: flags.parse("--timeout", positiveMs),
    retries: flags.parse("--retries", (text, place) => parseInteger(text, place, { min: 0, max: RETRIES_MAX })),
    maxWaitMs: flags.parse("--max-wait", milliseconds),
    settleMs: either(flags.text("--settle"), "--settle", env, "SURVEYCTL_SETTLE", milliseconds),
    concurrency: flags.parse("--concurrency", (text, place) =>
      parseInteger(text, place, { min: 1, max: CONCURRENCY_MAX }),
    ),
    ratePerSecond: flags.parse("--rate", parseRate),
    insecureHttp: flags.is("--insecure-http"),
    quiet: flags.is("--quiet"),
    verbosity: readVerbosity(flags, env),
    showPersonalData: flags.is("--show-personal-data"),
    color: flags.is("--color") && wantsColor(env, isTerminal),
    unicode: wantsUnicode(env),
    dryRun: flags.is("--dry-run"),
  };
}

export function readOutput(flags: Flags, env: Environment): OutputFormat | null {
  const named = flags.text("--output");
  if (flags.text("--query") !== null) {
    if (named === null || named === "json") return "json";
    throw new UsageError(`--query and --output ${named} cannot be used together`);
  }
  if (flags.is("--json")) {
    if (named === null || named === "json") return "json";
    throw new UsageError(`--json and --output ${named} cannot be used together`);
  }
  // A flag takes precedence over the environment, and this one means a format too.
  if (named === null && flags.is("--excel")) return null;
  return either(named, "--output", env, "SURVEYCTL_OUTPUT", (text, place) => parseChoice(text, place, OUTPUT_FORMATS));
}

function either<Value>(
  flag: string | null,
  name: string,
  env: Environment,
  variable: string,
  parse: (text: string, place: string) => Value,
): Value | null {
  if (flag !== null) return parse(flag, name);
  const value = setOr(env[variable]);
  return value === null ? null : parse(value, variable);
}

/** An empty variable is an unset one. */
function setOr(value: string | undefined): string | null {
  return value === undefined || value === "" ? null : value;
}

function milliseconds(text: string, place: string): number {
  return parseDuration(text, place) * 1000;
}

function positiveMs(text: string, place: string): number {
  const ms = parseDuration(text, place) * 1000;
  if (ms > 0) return ms;
  throw new UsageError(`${place}: must be at least 1s (got ${quoteText(text)})`);
}

function readVerbosity(flags: Flags, env: Environment): 0 | 1 | 2 {
  const debug = setOr(env["SURVEYCTL_DEBUG"]);
  const asked = Math.max(flags.count("--verbose"), debug === null || debug === "0" ? 0 : debug === "2" ? 2 : 1);
  return asked >= 2 ? 2 : asked === 1 ? 1 : 0;
}

/** NO_COLOR and CLICOLOR=0 switch off, FORCE_COLOR and CLICOLOR_FORCE on, else a terminal that is not dumb decides. */
export function wantsColor(env: Environment, isTerminal: boolean): boolean {
  if (setOr(env["NO_COLOR"]) !== null) return false;
  const forced = setOr(env["FORCE_COLOR"]) ?? setOr(env["CLICOLOR_FORCE"]);
  if (forced !== null) return forced !== "0" && forced !== "false";
  if (env["CLICOLOR"] === "0" || env["TERM"] === "dumb") return false;
  return isTerminal;
}

/** True when the locale says UTF-8; where no locale is set, terminals of today are taken for it. */
function wantsUnicode(env: Environment): boolean {
  const locale = setOr(env["LC_ALL"]) ?? setOr(env["LC_CTYPE"]) ?? setOr(env["LANG"]);
  return locale === null || /utf-?8/i.test(locale);
}

/**
 * True when stderr is for machines: from the raw words and the environment, since reading them properly may be what
 * fails.
 */
export function wantsJson(args: readonly string[], env: Environment): boolean {
  const format = lastOutput(args) ?? env["SURVEYCTL_OUTPUT"];
  return args.includes("--json") || format === "json" || format === "ndjson";
}

/** `-o` may stand behind short flags without a value, as in `-qo json`. */
const SHORT_OUTPUT = /^-[hiqv]*o=?/;

function lastOutput(args: readonly string[]): string | undefined {
  const at = args.findLastIndex((arg) => /^--output(?:=|$)/.test(arg) || SHORT_OUTPUT.test(arg));
  const arg = args[at];
  if (arg === undefined) return undefined;
  return /^(?:--output|-\w*o)$/.test(arg) ? args[at + 1] : arg.replace(/^--output=/, "").replace(SHORT_OUTPUT, "");
}
