import { configFile, type Surroundings } from "../../../config/places.ts";
import { readProfiles, writeProfiles, type Profiles } from "../../../config/profiles.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { LOCAL_PROFILE } from "../../../config/settings.ts";
import type { Deps } from "../../command/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { writeWarning } from "../../command/notes.ts";

export const DEFAULT_PROFILE = "default";

/** The saved profiles; a file that others can read is warned about. Throws ConfigError. */
export async function loadProfiles(deps: Deps): Promise<Profiles> {
  const profiles = await readProfiles(fileOf(deps));
  if (profiles.warning !== null) await writeWarning(deps, profiles.warning);
  return profiles;
}

/** For commands that write profiles, before they do anything: a dry run shows requests, and there are none. */
export function refuseDryRun({ options }: Deps): void {
  if (options.dryRun) throw new UsageError("--dry-run: auth commands send no requests that could be shown");
}

export async function saveProfiles(deps: Deps, profiles: Pick<Profiles, "defaultName" | "byName">): Promise<void> {
  await writeProfiles(fileOf(deps), profiles, deps.random.token(6));
}

export function fileOf({ env, platform }: Surroundings): string {
  return configFile({ env, platform });
}

export function listNames(byName: Profiles["byName"]): string {
  return [...byName.keys()].join(", ");
}

/** Throws ConfigError (exit 4) when no such profile is saved. */
export function checkSaved({ byName }: Profiles, name: string): void {
  if (byName.has(name)) return;
  if (name === LOCAL_PROFILE)
    throw new ConfigError(
      "invalid",
      `the profile "${LOCAL_PROFILE}" is built in and cannot be saved, removed or made the default`,
    );
  const names = [...byName.keys()];
  throw new ConfigError("missing", `there is no profile "${name}"`, {
    hint: names.length === 0 ? "create one with: surveyctl auth login" : `available profiles: ${listNames(byName)}`,
    unknownName: { given: name, known: names },
  });
}

/** Throws ConfigError (exit 2) for names that cannot be used. */
export function checkName(name: string): void {
  if (name === LOCAL_PROFILE)
    throw new ConfigError("invalid", `the profile name "${LOCAL_PROFILE}" is reserved; choose another`);
  if (/^[\w.-]{1,64}$/.test(name)) return;
  throw new ConfigError(
    "invalid",
    `--profile: ${JSON.stringify(name)} is not a valid profile name; use letters, digits, dots, dashes and underscores`,
  );
}
