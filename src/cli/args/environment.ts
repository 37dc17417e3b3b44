export type Environment = Readonly<Record<string, string | undefined>>;

export function variable(env: Environment, name: string): string | null {
  return env[name] || null;
}

export function wantsColor(env: Environment, isTerminal: boolean): boolean {
  if (variable(env, "NO_COLOR") !== null) return false;
  const forced = variable(env, "FORCE_COLOR") ?? variable(env, "CLICOLOR_FORCE");
  if (forced !== null) return forced !== "0" && forced !== "false";
  if (env["CLICOLOR"] === "0" || env["TERM"] === "dumb") return false;
  return isTerminal;
}

/** Defaults to true if no locale is set, because today's terminals use UTF-8. */
export function wantsUnicode(env: Environment): boolean {
  const locale = variable(env, "LC_ALL") ?? variable(env, "LC_CTYPE") ?? variable(env, "LANG");
  return locale === null || /utf-?8/i.test(locale);
}

/** Looks at the raw words, because the error to print may come from parsing them. */
export function wantsJson(args: readonly string[], env: Environment): boolean {
  const format = lastOutput(args) ?? env["SURVEYCTL_OUTPUT"];
  return args.includes("--json") || format === "json" || format === "ndjson";
}

/** `-o` can follow other short flags, as in `-qo json`. */
const SHORT_OUTPUT = /^-[hiqv]*o=?/;

function lastOutput(args: readonly string[]): string | undefined {
  const at = args.findLastIndex((arg) => /^--output(?:=|$)/.test(arg) || SHORT_OUTPUT.test(arg));
  const arg = args[at];
  if (arg === undefined) return undefined;
  return /^(?:--output|-\w*o)$/.test(arg) ? args[at + 1] : arg.replace(/^--output=/, "").replace(SHORT_OUTPUT, "");
}
