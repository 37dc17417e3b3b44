import type { Command } from "commander";
import { suggest } from "../../args/suggest.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT } from "../../exit-codes.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { parseFields } from "./fields.ts";
import { METHODS } from "./methods.ts";
import { runApi, type ApiOptions } from "./run.ts";

export function register(command: Command, context: CommandContext): void {
  context.describe(command, {
    operands: [
      ["[method]", "HTTP method (default GET)", METHODS],
      ["<path>", "a path such as /v1/people.json, or a URL below the base URL"],
    ],
    examples: [
      "surveyctl api /v1/metrics.json",
      "surveyctl api /v1/people.json -f email=ann@example.com",
      "surveyctl api POST /v1/people.json -f email=ann@example.com -F send=false",
      "surveyctl api /v1/survey_responses.json --paginate",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.auth, EXIT.refused],
    flags: [
      {
        flag: "--field",
        short: "-F",
        value: "key=value",
        text: "typed value (JSON): number, true, false, null, JSON or @FILE",
        repeatable: true,
      },
      { flag: "--raw-field", short: "-f", value: "key=value", text: "string value", repeatable: true },
      { flag: "--input", value: "file", text: "request body: a file, or - for standard input" },
      { flag: "--paginate", text: "read every page of a list and print one array" },
      { flag: "--include", short: "-i", text: "print the status line and headers too" },
    ],
  });
  context.action(command, async (deps, flags, operands) =>
    runApi(deps, {
      ...readOperands(operands),
      fields: await parseFields(flags.all("--field"), flags.all("--raw-field")),
      input: flags.text("--input"),
      paginate: flags.is("--paginate"),
      include: flags.is("--include"),
    }),
  );
}

/** A word alone is the path of a GET, unless it can only be a method. */
function readOperands([first = "", second]: readonly string[]): Pick<ApiOptions, "method" | "path"> {
  if (second !== undefined) return { method: parseMethod(first), path: second };
  if (first !== "" && !METHODS.some((method) => method === first.toUpperCase())) return { method: "GET", path: first };
  throw new UsageError("<path> is required", { hint: `for example: surveyctl api ${first || "GET"} /v1/people.json` });
}

function parseMethod(text: string): (typeof METHODS)[number] {
  const method = text.toUpperCase();
  const found = METHODS.find((known) => known === method);
  if (found !== undefined) return found;
  // Of words so short, one that needs two letters changed is another word: FETCH is not PATCH.
  const nearest = suggest(method, METHODS, 1);
  throw new UsageError(`method: ${JSON.stringify(text)} is not one of ${METHODS.join(", ")}`, {
    hint: nearest === null ? "leave it out for GET" : `did you mean ${nearest}?`,
  });
}
