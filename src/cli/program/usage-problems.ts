/** What is wrong with a command line as a whole, in the words of the command line. */
import { CommanderError } from "commander";
import { suggest } from "../args/suggest.ts";
import { UsageError } from "../errors/usage-error.ts";
import type { Arranged } from "./arrange.ts";

/** No command is named, or none of that name. */
export function incomplete({ command, path, rest, stray }: Arranged): UsageError {
  const names = command.commands.map((sub) => sub.name());
  if (stray !== null) {
    const nearest = suggest(stray, [...names, ...command.commands.flatMap((sub) => sub.aliases())]);
    const hint = nearest === null ? `the commands are ${names.join(", ")}` : `did you mean ${nearest}?`;
    return new UsageError(`unknown command ${JSON.stringify([...path, stray].join(" "))}`, { hint });
  }
  const called = path.length === 0 ? "surveyctl" : path.join(" ");
  return new UsageError(`${called} ${rest[0] ?? ""}: no command is named`, { hint: `the commands are ${names.join(", ")}` });
}

/** Commander's sentence without its prefix; its "(Did you mean …?)" becomes the hint. */
export function toUsageError(error: CommanderError, { command, path }: Arranged): UsageError {
  const help = `${["surveyctl", ...path].join(" ")} --help shows its usage and flags`;
  if (error.code === "commander.excessArguments") {
    const expected = command.registeredArguments.length;
    const extra = JSON.stringify(command.args[expected] ?? "");
    return new UsageError(`${path.join(" ")}: ${extra} is one argument too many`, { hint: help });
  }
  const [what = "", suggestion] = error.message.replace(/^error: /, "").split("\n");
  return new UsageError(what, { hint: suggestion === undefined ? help : suggestion.replace(/^\(|\)$/g, "").replace(/^Did/, "did") });
}
