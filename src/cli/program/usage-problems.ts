import type { Command, CommanderError } from "commander";
import { suggest } from "../args/suggest.ts";
import { UsageError } from "../errors/usage-error.ts";
import type { CommandNode } from "../kit/command-node.ts";
import { flagsFor, type Arranged } from "./arrange.ts";

const ANSWERS = ["--version", "--help"];

export function incomplete({ command, path, typed, rest, stray }: Arranged): UsageError {
  const names = command.commands.map(({ name }) => name);
  const hint = `available commands: ${names.join(", ")}`;
  if (stray !== null) {
    const unknown = `unknown command ${JSON.stringify([...typed, stray].join(" "))}`;
    const meant = commandMeant(path, stray);
    if (meant !== null) return new UsageError(`${unknown}; use: surveyctl ${meant}`);
    const nearest = suggest(stray, [
      ...(path.length === 0 ? ANSWERS : []),
      ...names,
      ...command.commands.flatMap(({ alias }) => alias ?? []),
    ]);
    return new UsageError(unknown, { hint: didYouMean(nearest) ?? hint });
  }
  const known = knownFlags(command);
  const unknown = rest.map(withoutValue).find((word) => word.startsWith("--") && !known.includes(word));
  if (unknown !== undefined && unknown !== "--") return unknownFlag(unknown, nearestFlag(unknown, command) ?? hint);
  const called = path.length === 0 ? "surveyctl" : path.join(" ");
  return new UsageError(`${called} ${rest[0] ?? ""}: a command is required`, { hint });
}

/** Commands that other tools have, and what to use instead. */
export const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ["login", "auth login"],
  ["logout", "auth logout"],
  ["status", "auth status"],
  ["whoami", "auth status"],
  ["doctor", "service delivery doctor"],
  ["service doctor", "service delivery doctor"],
  ["service status", "service delivery status"],
  ["pause", "service pause"],
  ["resume", "service resume"],
  ["backup", "service backup"],
  ["restore", "service restore"],
  ["key", "service key list"],
  ["keys", "service key list"],
  ["service keys", "service key list"],
  ["webhooks", "service webhook list"],
  ["nps", "metrics"],
  ["score", "metrics"],
  ["stats", "metrics"],
  ["export", "responses export"],
  ["search", "responses list --search TEXT"],
  ["responses search", "responses list --search TEXT"],
  ["list", "people list"],
  ["view", "people show"],
  ["get", "people show"],
  ["add", "people add"],
  ["create", "people add"],
  ["send", "people add"],
  ["edit", "people update"],
  ["delete", "people delete"],
  ["rm", "people delete"],
  ["update", "people update"],
]);

export function commandMeant(path: readonly string[], word: string): string | null {
  const typed = [...path, word].join(" ");
  const isFileName = word === "-" || /[./\\]/.test(word);
  if (isFileName && path.join(" ") === "imports") return `people import ${word}`;
  return OTHER_WORDS.get(typed) ?? null;
}

/** People try these flags to pass the API key. */
const KEY_FLAGS = new Set(["--key", "--api-key", "--apikey", "--token", "--password"]);

function unknownFlag(flag: string, hint: string): UsageError {
  if (flag === "--jq") return new UsageError("unknown flag --jq", { hint: "--query takes a JMESPath expression" });
  if (flag === "--query") return new UsageError("--query: this command prints no JSON");
  if (!KEY_FLAGS.has(flag)) return new UsageError(`unknown flag ${flag}`, { hint });
  return new UsageError(`unknown flag ${flag}: a key on a command line is visible to other users and kept in history`, {
    hint: "set SURVEYCTL_API_KEY, or save the key with: surveyctl auth login",
  });
}

function nearestFlag(flag: string, command: CommandNode): string | null {
  return didYouMean(suggest(flag, knownFlags(command)));
}

function knownFlags(command: CommandNode): readonly string[] {
  return [...ANSWERS, ...flagsFor(command).map(({ flag }) => flag)];
}

function withoutValue(word: string): string {
  return word.replace(/=.*/s, "");
}

function didYouMean(nearest: string | null): string | null {
  return nearest === null ? null : `did you mean ${nearest}?`;
}

export function checkRules({ flags, examples }: CommandNode, isGiven: (flag: string) => boolean): void {
  for (const { flag, conflicts = [], requires = [], required = false } of flags) {
    if (!isGiven(flag)) {
      const hint = `as in: ${examples.find((example) => example.includes(flag)) ?? flag}`;
      if (required) throw new UsageError(`${flag} is required`, { hint });
      continue;
    }
    const other = conflicts.find(isGiven);
    if (other !== undefined) throw new UsageError(`${flag} and ${other} cannot be used together`);
    if (requires.length > 0 && !requires.some(isGiven))
      throw new UsageError(`${flag} requires ${requires.join(" or ")}`);
  }
}

/** Rewords commander's errors, which say "option" instead of "flag". */
export function toUsageError(error: CommanderError, parser: Command, { command, path }: Arranged): UsageError {
  const help = `${["surveyctl", ...path].join(" ")} --help shows its usage and flags`;
  // Commander's message is useful only for the name it quotes.
  const what = error.message.replace(/^error: /, "");
  const name = /'([^']*)'/.exec(what)?.[1] ?? "";
  switch (error.code) {
    case "commander.unknownOption": {
      const flag = withoutValue(name);
      // Commander reports a switch with a value as an unknown option.
      if (flag !== name && knownFlags(command).includes(flag))
        return new UsageError(`${flag} takes no value`, { hint: help });
      return unknownFlag(flag, nearestFlag(flag, command) ?? help);
    }
    case "commander.optionMissingArgument":
      return new UsageError(`${/--[\w-]+/.exec(name)?.[0] ?? name}: a value is required`, { hint: help });
    case "commander.missingArgument":
      return new UsageError(`<${name}> is required`, { hint: help });
    case "commander.excessArguments": {
      const extra = JSON.stringify(parser.args[parser.registeredArguments.length] ?? "");
      return new UsageError(`unexpected argument ${extra}`, { hint: help });
    }
    default:
      return new UsageError(what, { hint: help });
  }
}
