import type { Command } from "commander";
import type { Expansion } from "../../../contract/routes.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { type Refusal, withRefusals } from "../../command/refusals.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { checkColumns, writeRecord } from "../../render/record-output.ts";
import { RESPONSES } from "../../render/resources.ts";
import { EXPAND_DEFAULT, expandFlag, neededExpansions, readExpand } from "./selection/service-filters.ts";

export interface ResponsesGetOptions {
  readonly id: string;
  readonly expand: readonly Expansion[] | null;
}

export function registerResponsesGet(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "get",
    summary: "show one response",
    operands: [["<id>", "the response's id"]],
    examples: ["surveyctl responses get 42 -o record", "surveyctl responses get 42 --json"],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: [expandFlag(EXPAND_DEFAULT)],
    columns: RESPONSES,
  });
  context.action(command, (deps, flags, [id = ""]) => runResponsesGet(deps, { id, expand: readExpand(flags) }));
}

/** An endpoint that only client libraries know: a service may lack it. */
export async function runResponsesGet(deps: Deps, { id, expand }: ResponsesGetOptions): Promise<ExitCode> {
  checkColumns(deps, RESPONSES);
  const embedded = expand ?? neededExpansions(deps);
  const parameters = { expand: embedded === null ? null : [...embedded] };
  const reply = await withClient(deps, (client) =>
    withRefusals(client.getResponse(id, parameters, { signal: deps.signal }), getRefusals(id)),
  );
  await writeRecord(deps, RESPONSES, reply);
  return EXIT.done;
}

/** The answers of a service that has no such response, or no such endpoint. */
export function getRefusals(id: string): readonly Refusal[] {
  const lacking = {
    words: "this service cannot look up a response by id",
    hint: "surveyctl responses list shows them",
  };
  return [
    {
      status: 404,
      words: `no response with id ${id}, or the service cannot look up responses by id`,
      hint: "surveyctl responses list shows the ids",
    },
    { status: 405, ...lacking },
    { status: 410, ...lacking },
  ];
}
