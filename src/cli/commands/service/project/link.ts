import type { Command } from "commander";
import { parseKeyValue } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import type { Deps } from "../../../command/deps.ts";
import { writeDone } from "../../../command/notes.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import {
  LINKS,
  PROJECT_FLAGS,
  type ProjectChoice,
  readProject,
  REMOVED,
  showList,
  showRecord,
  withAdmin,
} from "../data/data-file.ts";

export interface LinkAddOptions extends ProjectChoice {
  readonly name: string;
  /** What each response of the link carries. */
  readonly properties: Readonly<Record<string, string>>;
}

export async function runLinkAdd(
  deps: Deps,
  { project, name, properties, ...choice }: LinkAddOptions,
): Promise<ExitCode> {
  const link = await withAdmin(deps, choice, (admin) => admin({ kind: "link.add", project, name, properties }));
  await showRecord(deps, LINKS, link);
  return EXIT.done;
}

export async function runLinkList(deps: Deps, { project, ...choice }: ProjectChoice): Promise<ExitCode> {
  await showList(deps, LINKS, await withAdmin(deps, choice, (admin) => admin({ kind: "link.list", project })));
  return EXIT.done;
}

export async function runLinkRemove(
  deps: Deps,
  { project, id, ...choice }: ProjectChoice & { readonly id: string },
): Promise<ExitCode> {
  const removed = await withAdmin(deps, choice, (admin) => admin({ kind: "link.remove", project, id }));
  await showRecord(deps, REMOVED, removed);
  await writeDone(deps, `Removed link ${id}; its responses stay.`);
  return EXIT.done;
}

export function registerLink(parent: Command, context: CommandContext): void {
  const noun = parent.command("link").description("public links: surveys that anybody with the link may answer");
  const add = context.verb(noun, {
    name: "add",
    summary: "make a public link to a survey, for a website or a QR code",
    operands: [["<name>", "the link's name, which only you see"]],
    examples: [
      "surveyctl service link add Checkout --property store=web --data survey.db",
      "surveyctl service link add 'Shop in Lyon' --property store=lyon --property locale=fr",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: [
      ...PROJECT_FLAGS,
      { flag: "--property", value: "key=value", text: "property that each response gets", repeatable: true },
    ],
    columns: LINKS,
  });
  context.action(add, (deps, flags, [name = ""]) => {
    const properties = Object.fromEntries(flags.all("--property").map((text) => parseKeyValue(text, "--property")));
    return runLinkAdd(deps, { ...readProject(flags), name, properties });
  });
  const list = context.verb(noun, {
    name: "list",
    alias: "ls",
    summary: "list public links",
    examples: ["surveyctl service link list --data survey.db", "surveyctl service link list --json"],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: PROJECT_FLAGS,
    columns: LINKS,
  });
  context.action(list, (deps, flags) => runLinkList(deps, readProject(flags)));
  const remove = context.verb(noun, {
    name: "remove",
    alias: "rm",
    summary: "remove a public link and keep its responses",
    operands: [["<id>", "the link's number, from `service link list`"]],
    examples: ["surveyctl service link remove 12 --data survey.db", "surveyctl service link rm 12 --project acme"],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: PROJECT_FLAGS,
    columns: REMOVED,
  });
  context.action(remove, (deps, flags, [id = ""]) => runLinkRemove(deps, { ...readProject(flags), id }));
}
