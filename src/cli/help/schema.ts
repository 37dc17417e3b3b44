/** `surveyctl schema <command>`: the JSON Schema of what the command prints with `-o json`. */
import type { Command } from "commander";
import { suggest } from "../args/suggest.ts";
import { UsageError } from "../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { loadCommands } from "../program.ts";
import type { Streams } from "../streams/streams.ts";
import { outputSchema } from "./output-schema.ts";

const HINT = "as in: surveyctl schema people list";

/** Throws UsageError for words that are no command, and for one that prints no JSON of its own. */
export async function runSchema(words: readonly string[], { out }: Pick<Streams, "out">): Promise<ExitCode> {
  const flag = words.find((word) => word.startsWith("-") && word !== "--json");
  if (flag !== undefined) throw new UsageError(`schema: unknown flag ${flag}`, { hint: HINT });
  const path = words.filter((word) => word !== "--json");
  if (path.length === 0) throw new UsageError("schema requires a command", { hint: HINT });
  const { program, facts } = await loadCommands();
  let command: Command = program;
  for (const word of path) command = findCommand(command, word);
  const { columns } = facts.get(command);
  const title = nameOf(command);
  if (columns === undefined)
    throw new UsageError(
      command.commands.length > 0
        ? `schema: ${title} needs a command: ${command.commands.map((sub) => sub.name()).join(", ")}`
        : `schema: ${title} prints no JSON of its own`,
      { hint: HINT },
    );
  await out.write(`${JSON.stringify(outputSchema(title, columns), null, 2)}\n`);
  return EXIT.done;
}

function findCommand(command: Command, word: string): Command {
  const found = command.commands.find((sub) => sub.name() === word || sub.aliases().includes(word));
  if (found !== undefined) return found;
  const nearest = suggest(
    word,
    command.commands.map((sub) => sub.name()),
  );
  throw new UsageError(`schema: unknown command "${word}"`, {
    hint: nearest === null ? HINT : `did you mean ${nearest}?`,
  });
}

/** Without the program's own: `people list`. */
function nameOf(command: Command): string {
  const above = command.parent;
  return above === null || above.parent === null ? command.name() : `${nameOf(above)} ${command.name()}`;
}
