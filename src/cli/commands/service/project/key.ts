import type { Command } from "commander";
import type { Deps } from "../../../command/deps.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { writeDone, writeNote } from "../../../command/notes.ts";
import {
  KEYS,
  NEW_KEY,
  PROJECT_FLAGS,
  type ProjectChoice,
  readProject,
  REMOVED,
  showList,
  showRecord,
  withAdmin,
} from "../data/data-file.ts";

/** What is said beside a new key. */
export const KEY_NOTE = "save this key now; it is not shown again";

export async function runKeyAdd(deps: Deps, { project, ...choice }: ProjectChoice): Promise<ExitCode> {
  await showRecord(deps, NEW_KEY, await withAdmin(deps, choice, (admin) => admin({ kind: "key.add", project })));
  await writeNote(deps, KEY_NOTE);
  return EXIT.done;
}

export async function runKeyList(deps: Deps, { project, ...choice }: ProjectChoice): Promise<ExitCode> {
  await showList(deps, KEYS, await withAdmin(deps, choice, (admin) => admin({ kind: "key.list", project })));
  return EXIT.done;
}

export async function runKeyRevoke(
  deps: Deps,
  { project, id, ...choice }: ProjectChoice & { readonly id: string },
): Promise<ExitCode> {
  await showRecord(deps, REMOVED, await withAdmin(deps, choice, (admin) => admin({ kind: "key.revoke", project, id })));
  await writeDone(deps, `Revoked key ${id} of project ${project}.`);
  return EXIT.done;
}

export function registerKey(parent: Command, context: CommandContext): void {
  const noun = parent.command("key").description("API keys, stored hashed and shown once");
  const add = context.verb(noun, {
    name: "add",
    summary: "create a key and print it, once",
    examples: ["surveyctl service key add --data survey.db", "surveyctl service key add --project acme --json"],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: PROJECT_FLAGS,
    columns: NEW_KEY,
  });
  context.action(add, (deps, flags) => runKeyAdd(deps, readProject(flags)));
  const list = context.verb(noun, {
    name: "list",
    alias: "ls",
    summary: "list keys by number and last four characters",
    examples: ["surveyctl service key list --data survey.db", "surveyctl service key list --project acme --json"],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: PROJECT_FLAGS,
    columns: KEYS,
  });
  context.action(list, (deps, flags) => runKeyList(deps, readProject(flags)));
  const revoke = context.verb(noun, {
    name: "revoke",
    summary: "revoke a key at once, in a running service too",
    operands: [["<id>", "the key's number, from `service key list`"]],
    examples: [
      "surveyctl service key revoke 1 --data survey.db",
      "surveyctl service key list --columns id | tail -1 | xargs surveyctl service key revoke",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: PROJECT_FLAGS,
    columns: REMOVED,
  });
  context.action(revoke, (deps, flags, [id = ""]) => runKeyRevoke(deps, { ...readProject(flags), id }));
}
