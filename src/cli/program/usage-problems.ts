/** What is wrong with a command line as a whole, in the words of the command line. */
import { CommanderError, type Option } from "commander";
import { suggest } from "../args/suggest.ts";
import { UsageError } from "../errors/usage-error.ts";
import { optionsBelow, type Arranged } from "./arrange.ts";

/** What stands in a command's place and is none: flags that answer at once. */
const ANSWERS = ["--version", "--help"];

/** What the API can do and no command does. */
const ELSEWHERE = new Map(
  ["delete", "remove", "rm"].map((verb) => [
    `people ${verb}`,
    "people and all their data are deleted with: surveyctl api DELETE /v1/people/email:EMAIL.json",
  ]),
);

/** No command is named, or none of that name; a mistyped flag is the nearer reason. */
export function incomplete({ command, path, rest, stray }: Arranged, globals: readonly Option[]): UsageError {
  const names = command.commands.map((sub) => sub.name());
  const hint = `the commands are ${names.join(", ")}`;
  if (stray !== null) {
    const instead = ELSEWHERE.get([...path, stray].join(" "));
    if (instead !== undefined) return new UsageError(`no command "${[...path, stray].join(" ")}"`, { hint: instead });
    const nearest = suggest(stray, [
      ...(path.length === 0 ? ANSWERS : []),
      ...names,
      ...command.commands.flatMap((sub) => sub.aliases()),
    ]);
    return new UsageError(`unknown command ${JSON.stringify([...path, stray].join(" "))}`, {
      hint: didYouMean(nearest) ?? hint,
    });
  }
  const flags = [...ANSWERS, ...[...globals, ...optionsBelow(command)].flatMap(({ long }) => long ?? [])];
  const unknown = rest
    .map((word) => word.replace(/=.*/s, ""))
    .find((word) => word.startsWith("--") && !flags.includes(word));
  if (unknown !== undefined && unknown !== "--") {
    return new UsageError(`unknown option '${unknown}'`, { hint: didYouMean(suggest(unknown, flags)) ?? hint });
  }
  const called = path.length === 0 ? "surveyctl" : path.join(" ");
  return new UsageError(`${called} ${rest[0] ?? ""}: no command is named`, { hint });
}

function didYouMean(nearest: string | null): string | null {
  return nearest === null ? null : `did you mean ${nearest}?`;
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
  return new UsageError(what, {
    hint: suggestion === undefined ? help : suggestion.replace(/^\(|\)$/g, "").replace(/^Did/, "did"),
  });
}
