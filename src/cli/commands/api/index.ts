import type { Command } from "commander";
import { EXIT } from "../../exit-codes.ts";
import { collect, type CommandContext } from "../../command/command-context.ts";
import { parseFields } from "./fields.ts";
import { METHODS } from "./methods.ts";
import { runApi } from "./run.ts";

export function register(command: Command, context: CommandContext): void {
  context.describe(command, {
    operands: [
      ["<method>", "what to do with it", METHODS],
      ["<path>", "a path such as /v1/people.json, or a URL below the base URL"],
    ],
    examples: [
      "surveyctl api GET /v1/metrics.json",
      "surveyctl api GET /v1/people.json -f email=ann@example.com",
      "surveyctl api POST /v1/people.json -f email=ann@example.com -F send=false",
      "surveyctl api GET /v1/survey_responses.json --paginate",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.usage, EXIT.auth, EXIT.refused],
  });
  command
    .option(
      "-F, --field <key=value>",
      "a JSON-typed value: numbers, true, false, null, JSON, @FILE; may be repeated",
      collect,
      [],
    )
    .option("-f, --raw-field <key=value>", "a value taken as text; may be repeated", collect, [])
    .option("--input <file>", "the body as it is: a file, or - for standard input")
    .option("--paginate", "follow a list to its end and print one array")
    .option("-i, --include", "print the status line and the headers first");
  context.action(command, async (deps, flags, [method = "", path = ""]) =>
    runApi(deps, {
      method,
      path,
      fields: await parseFields(flags.all("--field"), flags.all("--raw-field")),
      input: flags.text("--input"),
      paginate: flags.is("--paginate"),
      include: flags.is("--include"),
    }),
  );
}
