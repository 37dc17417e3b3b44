import type { Command } from "commander";
import type { EmailOrPhone } from "../../args/people.ts";
import { type Deps, withClient } from "../../command/deps.ts";
import { NotFoundError } from "../../errors/command-errors.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { checkColumns, writeRecord } from "../../render/record-output.ts";
import { PEOPLE } from "../../render/resources.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { findPerson, notFound, PERSON_OPERAND, readPersonOperand } from "./person-reference.ts";

export function registerPeopleGet(noun: Command, context: CommandContext): void {
  const command = context.verb(noun, {
    name: "get",
    summary: "show one person",
    operands: [PERSON_OPERAND],
    examples: ["surveyctl people get ada@example.com", "surveyctl people get +14155550101 --json"],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    columns: PEOPLE,
  });
  context.action(command, (deps, _flags, [person = ""]) => runPeopleGet(deps, { person: readPersonOperand(person) }));
}

export async function runPeopleGet(deps: Deps, { person }: { readonly person: EmailOrPhone }): Promise<ExitCode> {
  checkColumns(deps, PEOPLE);
  const found = await withClient(deps, (client) => findPerson(client, person, deps.signal));
  if (found === null) throw new NotFoundError(notFound(person));
  await writeRecord(deps, PEOPLE, found);
  return EXIT.done;
}
