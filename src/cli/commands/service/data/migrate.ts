import type { Command } from "commander";
import type { CommandContext } from "../../../command/command-context.ts";
import { asCliError } from "../../../command/data-file-errors.ts";
import {
  chooseServicePlace,
  DATA_FLAGS,
  type DataFileChoice,
  readPlace,
  showDatabase,
} from "../../../command/data-place.ts";
import type { Deps } from "../../../command/deps.ts";
import { writeDone } from "../../../command/notes.ts";
import { EXIT, type ExitCode } from "../../../exit-codes.ts";
import { rejectDryRun, noteDataFile } from "./data-file.ts";

/**
 * Brings the schema up to date as a user who may change it, so that `serve --no-migrate` can run as one who may not.
 */
async function runMigrate(deps: Deps, choice: DataFileChoice): Promise<ExitCode> {
  rejectDryRun(deps);
  const place = await chooseServicePlace(deps, await noteDataFile(deps, choice));
  const name = place.kind === "file" ? place.dataFile : showDatabase(place.url);
  const { openData } = await import("../../../../service/data-file/open-data-file.ts");
  const database = place.kind === "file" ? null : { url: place.url, mayMigrate: true };
  const { clock, random } = deps;
  const store = await asCliError(() => openData({ dataFile: name, database, clock, random }));
  await store.close();
  await writeDone(deps, `The schema of ${name} is up to date.`);
  return EXIT.done;
}

export function registerMigrate(parent: Command, context: CommandContext): void {
  const migrate = context.verb(parent, {
    name: "migrate",
    summary: "bring the schema of a database up to date",
    examples: [
      "surveyctl service migrate --database-file owner-url",
      "surveyctl service migrate --database postgres://owner@db.internal/surveys",
    ],
    exits: [EXIT.done, EXIT.failed],
    flags: DATA_FLAGS,
  });
  context.action(migrate, (deps, flags) => runMigrate(deps, { data: readPlace(flags) }));
}
