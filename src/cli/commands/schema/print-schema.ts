/** `schema`: the JSON Schema of what a command prints with `-o json`. The command tree has it. */
import type { JsonObject } from "../../../contract/json.ts";
import { suggest } from "../../args/suggest.ts";
import type { Deps } from "../../command/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";

interface Node {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly output_schema: JsonObject | null;
  readonly commands: readonly Node[];
}

const HINT = "as in: surveyctl schema people list";

/** Throws UsageError for words that are no command, and for one that prints no JSON of its own. */
export async function printSchema(deps: Deps, words: readonly string[]): Promise<ExitCode> {
  let commands = await readTree(deps);
  let node: Node | null = null;
  for (const word of words) {
    node = findNode(commands, word);
    ({ commands } = node);
  }
  const path = words.join(" ");
  if (node === null || node.output_schema === null)
    throw new UsageError(
      commands.length > 0
        ? `schema: ${path} needs a command: ${commands.map(({ name }) => name).join(", ")}`
        : `schema: ${path} prints no JSON of its own`,
      { hint: HINT },
    );
  await deps.streams.out.write(`${JSON.stringify(node.output_schema, null, 2)}\n`);
  return EXIT.done;
}

async function readTree(deps: Deps): Promise<readonly Node[]> {
  const parts: string[] = [];
  const out = { isTTY: false, columns: 80, write: async (part: string | Uint8Array) => void parts.push(String(part)) };
  await deps.run(["help", "--json"], { out, err: deps.streams.err });
  return (JSON.parse(parts.join("")) as { readonly commands: readonly Node[] }).commands;
}

function findNode(commands: readonly Node[], word: string): Node {
  const found = commands.find(({ name, aliases }) => name === word || aliases.includes(word));
  if (found !== undefined) return found;
  const nearest = suggest(
    word,
    commands.map(({ name }) => name),
  );
  throw new UsageError(`schema: unknown command "${word}"`, {
    hint: nearest === null ? HINT : `did you mean ${nearest}?`,
  });
}
