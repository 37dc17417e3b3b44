import type { Command } from "commander";
import type { CommandContext } from "../../../command/command-context.ts";
import { chooseServicePlace, DATA_FLAGS, type DataFileChoice, readPlace } from "../../../command/data-place.ts";
import type { Deps } from "../../../command/deps.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { checkColumns } from "../../../render/record-output.ts";
import { VACUUMED } from "../service-resources.ts";
import { noteDuration, showRecord, withAdmin } from "./data-file.ts";

/** On a slow machine. */
const REWRITTEN_A_SECOND = 30_000_000;

async function runVacuum(deps: Deps, choice: DataFileChoice): Promise<ExitCode> {
  checkColumns(deps, VACUUMED);
  const sizes = await withAdmin(deps, choice, async (admin) => {
    const verb = "nothing can be saved meanwhile: rewriting";
    const place = await chooseServicePlace(deps, choice);
    if (place.kind === "file") await noteDuration(deps, place.dataFile, { verb, perSecond: REWRITTEN_A_SECOND });
    return admin({ kind: "vacuum" });
  });
  await showRecord(deps, VACUUMED, sizes);
  return EXIT.done;
}

export function registerVacuum(parent: Command, context: CommandContext): void {
  const vacuum = context.verb(parent, {
    name: "vacuum",
    summary: "give the space of deleted rows back to the disk",
    examples: ["surveyctl service vacuum --data survey.db", "surveyctl service vacuum --json"],
    exits: [EXIT.done, EXIT.failed],
    flags: DATA_FLAGS,
    columns: VACUUMED,
  });
  context.action(vacuum, (deps, flags) => runVacuum(deps, { data: readPlace(flags) }));
}
