/** Which data file a command works on, and the service's errors in the words of the command line. */
import { existsSync } from "node:fs";
import { localDataFile } from "../../../config/places.ts";
import type { Admin } from "../../../service/control/commands.ts";
import type { Deps } from "../../command/deps.ts";
import { asCliError } from "../../command/data-file-errors.ts";
import { writeNote } from "../../command/notes.ts";
import { DataFileError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT } from "../../exit-codes.ts";

export interface DataFileChoice {
  /** `--data`; null when it was not given. */
  readonly data: string | null;
}

/** The flag, else `SURVEYCTL_DATA`, else the file of the profile `local`. */
export function chooseDataFile({ env, platform }: Pick<Deps, "env" | "platform">, { data }: DataFileChoice): string {
  const named = data ?? env["SURVEYCTL_DATA"] ?? "";
  if (data === "") throw new UsageError("--data: the file name is empty");
  return named === "" ? localDataFile({ env, platform }) : named;
}

/** Gives `work` the commands of an existing data file, whether a server runs on it or not. */
export async function withAdmin<Result>(
  deps: Deps,
  choice: DataFileChoice,
  work: (admin: Admin) => Promise<Result>,
): Promise<Result> {
  if (deps.options.dryRun) throw new UsageError("--dry-run: service commands send no requests that could be shown");
  const dataFile = chooseDataFile(deps, choice);
  if (!existsSync(dataFile)) {
    throw new DataFileError("no_data_file", `there is no data file ${dataFile}`, {
      hint: `surveyctl serve --data ${dataFile} creates one; use --data or SURVEYCTL_DATA for another`,
      exit: EXIT.usage,
    });
  }
  // What was not named may not be what was meant.
  if (choice.data === null && (deps.env["SURVEYCTL_DATA"] ?? "") === "") await writeNote(deps, `using ${dataFile}`);
  const { administer } = await import("../../../service/administer.ts");
  const { clock, random } = deps;
  return asCliError(() => administer({ dataFile, clock, random }, work));
}
