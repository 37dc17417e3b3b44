/** Which data file a command works on, and the service's errors in the words of the command line. */
import { existsSync } from "node:fs";
import { localDataFile } from "../../../config/places.ts";
import type { Admin } from "../../../service/control/commands.ts";
import type { Deps } from "../../deps.ts";
import { DataFileError } from "../../errors/data-file-error.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT } from "../../exit-codes.ts";

export interface DataFileChoice {
  /** `--data`; null when it was not given. */
  readonly data: string | null;
}

/** The flag, else `SURVEYCTL_DATA`, else the file of the profile `local`. */
export function chooseDataFile({ env, platform }: Pick<Deps, "env" | "platform">, { data }: DataFileChoice): string {
  const named = data ?? env["SURVEYCTL_DATA"] ?? "";
  if (data === "") throw new UsageError("--data: the name of the data file is empty");
  return named === "" ? localDataFile({ env, platform }) : named;
}

/** Gives `work` the commands of an existing data file, whether a server runs on it or not. */
export async function withAdmin<Result>(deps: Deps, choice: DataFileChoice, work: (admin: Admin) => Promise<Result>): Promise<Result> {
  if (deps.options.dryRun) throw new UsageError("--dry-run: service commands send no requests that could be shown");
  const dataFile = chooseDataFile(deps, choice);
  if (!existsSync(dataFile)) {
    throw new DataFileError("no_data_file", `there is no data file ${dataFile}`, {
      hint: `surveyctl serve --data ${dataFile} makes one; --data or SURVEYCTL_DATA names another`,
      exit: EXIT.usage,
    });
  }
  const { administer } = await import("../../../service/administer.ts");
  const { clock, random } = deps;
  return inWords(() => administer({ dataFile, clock, random }, work));
}

/** Runs `work`; what the service throws comes out as an error that the ladder knows. */
export async function inWords<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw (await translate(error)) ?? error;
  }
}

async function translate(error: unknown): Promise<Error | null> {
  const { AdminError } = await import("../../../service/control/commands.ts");
  const { AlreadyServedError } = await import("../../../service/open-data-file.ts");
  const { StoreBusyError } = await import("../../../service/store/store-busy-error.ts");
  const { StoreFileError } = await import("../../../service/store/store-file-error.ts");
  if (error instanceof AdminError) return new DataFileError("refused", error.message, { exit: EXIT.refused, cause: error });
  if (error instanceof AlreadyServedError) {
    const hint = "use that one, stop it first, or name another file with --data";
    return new DataFileError("already_served", error.message, { hint, cause: error });
  }
  if (error instanceof StoreBusyError)
    return new DataFileError("data_file_busy", error.message, { hint: "try again when it has ended", cause: error });
  if (error instanceof StoreFileError) return new DataFileError("bad_data_file", error.message, { cause: error });
  return null;
}
