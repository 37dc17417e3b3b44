import type { Command } from "commander";
import { parseKeyValue } from "../../../args/values.ts";
import type { Deps } from "../../../command/deps.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { writeDone } from "../../../command/notes.ts";
import {
  PROJECT_FLAGS,
  type ProjectChoice,
  readProject,
  REMOVED,
  showList,
  showRecord,
  TRENDS,
  withAdmin,
} from "../data/data-file.ts";

export interface TrendAddOptions extends ProjectChoice {
  readonly name: string;
  /** Property names and the values that they must have. */
  readonly where: Readonly<Record<string, string>>;
}

export async function runTrendAdd(deps: Deps, { project, name, where, ...choice }: TrendAddOptions): Promise<ExitCode> {
  if (Object.keys(where).length === 0)
    throw new UsageError("--where is required", { hint: "for example --where plan=pro" });
  await showRecord(
    deps,
    TRENDS,
    await withAdmin(deps, choice, (admin) => admin({ kind: "trend.add", project, name, where })),
  );
  return EXIT.done;
}

export async function runTrendList(deps: Deps, { project, ...choice }: ProjectChoice): Promise<ExitCode> {
  await showList(deps, TRENDS, await withAdmin(deps, choice, (admin) => admin({ kind: "trend.list", project })));
  return EXIT.done;
}

export async function runTrendRemove(
  deps: Deps,
  { project, id, ...choice }: ProjectChoice & { readonly id: string },
): Promise<ExitCode> {
  await showRecord(
    deps,
    REMOVED,
    await withAdmin(deps, choice, (admin) => admin({ kind: "trend.remove", project, id })),
  );
  await writeDone(deps, `Removed trend ${id}.`);
  return EXIT.done;
}

export function registerTrend(parent: Command, context: CommandContext): void {
  const noun = parent
    .command("trend")
    .description("trends: saved filters on person_properties, for responses list and metrics");
  const add = context.verb(noun, {
    name: "add",
    summary: "save a filter; --trend takes its id",
    operands: [["<name>", "the trend's name"]],
    examples: [
      "surveyctl service trend add 'Pro customers' --where plan=pro --data survey.db",
      "surveyctl service trend add 'Pro in France' --where plan=pro --where country=FR",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: [
      ...PROJECT_FLAGS,
      {
        flag: "--where",
        value: "key=value",
        text: "property and value that a response must have",
        repeatable: true,
      },
    ],
    columns: TRENDS,
  });
  context.action(add, (deps, flags, [name = ""]) => {
    const where = Object.fromEntries(flags.all("--where").map((text) => parseKeyValue(text, "--where")));
    return runTrendAdd(deps, { ...readProject(flags), name, where });
  });
  const list = context.verb(noun, {
    name: "list",
    alias: "ls",
    summary: "list trends",
    examples: ["surveyctl service trend list --data survey.db", "surveyctl service trend list --json"],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: PROJECT_FLAGS,
    columns: TRENDS,
  });
  context.action(list, (deps, flags) => runTrendList(deps, readProject(flags)));
  const remove = context.verb(noun, {
    name: "remove",
    alias: "rm",
    summary: "remove a trend and keep its responses",
    operands: [["<id>", "the trend's number, from `service trend list`"]],
    examples: [
      "surveyctl service trend list --columns id | tail -1 | xargs surveyctl service trend remove",
      "surveyctl service trend list --columns id | head -1 | xargs surveyctl service trend rm",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.refused],
    flags: PROJECT_FLAGS,
    columns: REMOVED,
  });
  context.action(remove, (deps, flags, [id = ""]) => runTrendRemove(deps, { ...readProject(flags), id }));
}
