import type { Command } from "commander";
import type { Deps } from "../../../command/deps.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { writeNote } from "../../../command/notes.ts";
import { parseName } from "../../../args/values.ts";
import { DATA_FLAGS, type DataFileChoice, readPlace } from "../../../command/data-place.ts";
import { showRecord, withAdmin } from "../data/data-file.ts";
import { serviceVerb } from "../project-verb.ts";
import { NEW_PROJECT, PROJECTS } from "../service-resources.ts";
import { KEY_NOTE } from "./key.ts";
import { checkColumns } from "../../../render/record-output.ts";

async function runProjectAdd(
  deps: Deps,
  { name, ...choice }: DataFileChoice & { readonly name: string },
): Promise<ExitCode> {
  checkColumns(deps, NEW_PROJECT);
  const project = await withAdmin(deps, choice, (admin) => admin({ kind: "project.add", name }));
  await showRecord(deps, NEW_PROJECT, project);
  await writeNote(deps, KEY_NOTE);
  return EXIT.done;
}

export function registerProject(parent: Command, context: CommandContext): void {
  const noun = parent
    .command("project")
    .description("add and list projects, each with its own people, responses, settings and keys");
  const add = context.verb(noun, {
    name: "add",
    summary: "create a project and print its first key once",
    operands: [["<name>", "the project's name"]],
    examples: ["surveyctl service project add acme --data survey.db", "surveyctl service project add acme --json"],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: DATA_FLAGS,
    columns: NEW_PROJECT,
  });
  context.action(add, (deps, flags, [name = ""]) =>
    runProjectAdd(deps, { name: parseName(name, "<name>"), data: readPlace(flags) }),
  );
  serviceVerb(context, noun, {
    kind: "project.list",
    name: "list",
    alias: "ls",
    summary: "list projects and their size",
    examples: ["surveyctl service project list --data survey.db", "surveyctl service project list --json"],
    exits: [EXIT.done, EXIT.failed],
    columns: PROJECTS,
  });
}
