import { quoteText } from "../../../contract/text/invisible.ts";
import { configFile } from "../../../config/places.ts";
import type { Profiles } from "../../../config/profiles.ts";
import { ConfigError } from "../../../config/config-error.ts";
import { LOCAL_PROFILE } from "../../../config/settings.ts";
import type { Deps } from "../../kit/deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { writeWarning } from "../../kit/notes.ts";

export const DEFAULT_PROFILE = "default";

/**
 * Warns if others can read the file. Throws ConfigError if it is unreadable. With `repair`, an unreadable file counts
 * as empty instead, and `changeProfiles` moves it aside.
 */
export async function loadProfiles(deps: Deps, { repair = false } = {}): Promise<Profiles> {
  const { readProfiles } = await import("../../../config/profiles.ts");
  const file = configFile(deps);
  const profiles = await readProfiles(file).catch(async (error: unknown) => {
    if (!repair || !isBroken(error)) throw error;
    await writeWarning(deps, `${error.message}; it will be replaced, and kept as ${file}.broken`);
    return { defaultName: null, byName: new Map(), warning: null, untrusted: null };
  });
  if (profiles.warning !== null) await writeWarning(deps, profiles.warning);
  return profiles;
}

/** A dry run shows requests, but these commands don't send any. */
export function refuseDryRun({ options }: Deps): void {
  if (options.dryRun) throw new UsageError("--dry-run: auth commands send no requests that could be shown");
}

type Saved = Pick<Profiles, "defaultName" | "byName">;

/** Reads the file again, because another command may have changed it, and returns what was saved. */
export async function changeProfiles(deps: Deps, change: (saved: Saved) => Saved): Promise<Saved> {
  const { readProfiles, setAside, writeProfiles } = await import("../../../config/profiles.ts");
  const file = configFile(deps);
  const saved = await readProfiles(file).catch(async (error: unknown) => {
    if (!isBroken(error)) throw error;
    await setAside(file);
    return { defaultName: null, byName: new Map() };
  });
  const changed = change(saved);
  await writeProfiles(file, changed, deps.random.token(6));
  return changed;
}

function isBroken(error: unknown): error is ConfigError {
  return error instanceof ConfigError && error.problem === "broken";
}

export function checkSaved({ byName }: Profiles, name: string): void {
  if (byName.has(name)) return;
  if (name === LOCAL_PROFILE)
    throw new ConfigError(
      "invalid",
      `the profile "${LOCAL_PROFILE}" is built in and cannot be saved, removed or made the default`,
    );
  const advice = { code: "unknown_profile", given: name, known: [...byName.keys()], mayCreate: false } as const;
  throw new ConfigError("missing", `there is no profile "${name}"`, advice);
}

/** Every JavaScript object has properties with these names, so they can't name a profile. */
const UNREADABLE = new Set(["__proto__", "constructor", "prototype"]);

export function checkName(name: string, place = "--profile"): void {
  if (name === LOCAL_PROFILE || UNREADABLE.has(name))
    throw new ConfigError("invalid", `the profile name "${name}" is reserved; choose another`);
  if (/^[\w.-]{1,64}$/.test(name)) return;
  throw new ConfigError(
    "invalid",
    `${place}: ${quoteText(name)} is not a valid profile name; use letters, digits, dots, dashes and underscores`,
  );
}
