import { describe, expect, it } from "vitest";
import { Flags } from "../../../src/cli/args/flags.ts";
import { wantsColor } from "../../../src/cli/args/environment.ts";
import { type GlobalOptions, readGlobalOptions } from "../../../src/cli/args/global-options.ts";

type Values = Readonly<Record<string, unknown>>;
type Variables = Readonly<Record<string, string>>;

/** commander's values for flags that weren't given. */
const NOTHING: Values = { color: true, columns: [], verbose: 0, concurrency: "8" };

const read = (flags: Values = {}, env: Variables = {}): GlobalOptions =>
  readGlobalOptions(new Flags({ ...NOTHING, ...flags }), env, true);

const UNSET: GlobalOptions = {
  profile: null,
  baseUrl: null,
  output: null,
  json: false,
  query: null,
  columns: null,
  time: null,
  timeZone: null,
  excel: false,
  timeoutMs: null,
  retries: null,
  maxWaitMs: null,
  settleMs: null,
  concurrency: 8,
  ratePerSecond: null,
  insecureHttp: false,
  quiet: false,
  verbosity: 0,
  showPersonalData: false,
  color: true,
  unicode: true,
  dryRun: false,
};

describe("the flags that every command has", () => {
  it.each<[string, Values, Variables, Partial<GlobalOptions>]>([
    ["nothing", {}, {}, {}],
    ["the settling time as a variable", {}, { SURVEYCTL_SETTLE: "2m" }, { settleMs: 120_000 }],
    ["the settling time as a flag, too", { settle: "0" }, { SURVEYCTL_SETTLE: "2m" }, { settleMs: 0 }],
    [
      "empty variables",
      {},
      {
        SURVEYCTL_PROFILE: "",
        SURVEYCTL_OUTPUT: "",
        SURVEYCTL_TIME: "",
        SURVEYCTL_SETTLE: "",
        SURVEYCTL_DEBUG: "",
        NO_COLOR: "",
      },
      {},
    ],
    [
      "variables",
      {},
      {
        SURVEYCTL_PROFILE: "prod",
        SURVEYCTL_BASE_URL: "https://a.example",
        SURVEYCTL_OUTPUT: "csv",
        SURVEYCTL_TIME: "unix",
      },
      { output: "csv", time: "unix" },
    ],
    [
      "flags over variables",
      { profile: "test", baseUrl: "https://b.example", output: "tsv", time: "iso" },
      {
        SURVEYCTL_PROFILE: "prod",
        SURVEYCTL_BASE_URL: "https://a.example",
        SURVEYCTL_OUTPUT: "csv",
        SURVEYCTL_TIME: "unix",
      },
      { profile: "test", baseUrl: "https://b.example", output: "tsv", time: "iso" },
    ],
    ["--json over the variable", { json: true }, { SURVEYCTL_OUTPUT: "csv" }, { output: "json", json: true }],
    ["--json twice", { json: true, output: "json" }, {}, { output: "json", json: true }],
    ["times", { timeout: "90", maxWait: "5m" }, {}, { timeoutMs: 90_000, maxWaitMs: 300_000 }],
    [
      "numbers",
      { retries: "0", concurrency: "1", rate: "600/m" },
      {},
      { retries: 0, concurrency: 1, ratePerSecond: 10 },
    ],
    ["columns", { columns: ["id,email", "name"] }, {}, { columns: ["id", "email", "name"] }],
    ["debug", {}, { SURVEYCTL_DEBUG: "1" }, { verbosity: 1 }],
    ["debug of bodies", { verbose: 1 }, { SURVEYCTL_DEBUG: "2" }, { verbosity: 2 }],
    ["debug switched off", {}, { SURVEYCTL_DEBUG: "0" }, {}],
    ["verbose thrice", { verbose: 3 }, {}, { verbosity: 2 }],
    ["--no-color", { color: false }, { FORCE_COLOR: "1" }, { color: false }],
    [
      "switches",
      { quiet: true, dryRun: true, insecureHttp: true, showPersonalData: true },
      {},
      { quiet: true, dryRun: true, insecureHttp: true, showPersonalData: true },
    ],
  ])("when given %s", (_, flags, env, expected) => {
    expect(read(flags, env)).toEqual({ ...UNSET, ...expected });
  });

  it.each<[Values, Variables, string]>([
    [{ json: true, output: "csv" }, {}, "--json and --output csv cannot be used together"],
    [{ output: "xml" }, {}, '--output: "xml" is not one of table, record, json, ndjson, csv, tsv, markdown'],
    [
      {},
      { SURVEYCTL_OUTPUT: "xml" },
      'SURVEYCTL_OUTPUT: "xml" is not one of table, record, json, ndjson, csv, tsv, markdown',
    ],
    [{}, { SURVEYCTL_TIME: "epoch" }, 'SURVEYCTL_TIME: "epoch" is not one of unix, iso, local, relative'],
    [{ timeout: "0" }, {}, '--timeout: must be at least 1s (got "0")'],
    [{ retries: "-1" }, {}, '--retries: "-1" is not a whole number from 0 to 100'],
    [{ concurrency: "0" }, {}, '--concurrency: "0" is not a whole number from 1 to 256'],
    [{ tz: "Mars" }, {}, '--tz: "Mars" is not a time zone such as UTC, Europe/Berlin or America/New_York'],
  ])("when %j with %j, then it is refused", (flags, env, message) => {
    expect(() => read(flags, env)).toThrow(message);
  });
});

describe("colour", () => {
  it.each<[boolean, Variables, boolean]>([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: "1" }, false],
    [true, { NO_COLOR: "1", FORCE_COLOR: "1" }, false],
    [false, { FORCE_COLOR: "1" }, true],
    [true, { FORCE_COLOR: "0" }, false],
    [false, { CLICOLOR_FORCE: "1" }, true],
    [true, { CLICOLOR: "0" }, false],
    [true, { TERM: "dumb" }, false],
  ])("when a terminal is %j and the environment %j, then %j", (isTerminal, env, expected) => {
    expect(wantsColor(env, isTerminal)).toBe(expected);
  });
});
