import { configFile } from "../../../config/places.ts";
import { systemErrorText } from "../../../runtime/files/system-words.ts";
import type { Service } from "../../../service/service.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { asCliError } from "../../kit/data/data-file-errors.ts";
import type { Deps } from "../../kit/deps.ts";
import type { FlagSpec } from "../../kit/flag-spec.ts";
import { confirm } from "../../kit/notes.ts";
import { changeProfiles, checkName, DEFAULT_PROFILE, loadProfiles } from "../auth/profile-file.ts";
import { givenKey, type SavedLogin } from "./first-key.ts";
import type { ServeLog } from "./serve-log.ts";

export const LOGIN_FLAG = {
  value: "name",
  implied: DEFAULT_PROFILE,
  text: `save the key of a new service as a profile; without a name, as ${DEFAULT_PROFILE}`,
  parse: (name, place) => {
    checkName(name, place);
    return name;
  },
} as const satisfies FlagSpec;

interface Login {
  readonly name: string;
  readonly mayReplace: boolean;
}

interface NewService {
  readonly store: Service["store"] | null;
  readonly data: string;
}

/**
 * Returns null if there's no key to save. If the profile exists, asks before replacing it: throws CancelledError if the
 * user declines, UsageError if there's no terminal.
 */
export async function checkLogin(
  deps: Deps,
  log: ServeLog,
  { name, ...service }: NewService & { readonly name: string | null },
): Promise<Login | null> {
  if (name === null) return null;
  const reason = await whyNoKey(deps, service);
  if (reason !== null) {
    log.info("no_profile_saved", { message: `no profile was saved: ${reason}` });
    return null;
  }
  const saved = (await loadProfiles(deps)).byName.get(name);
  if (saved === undefined) return { name, mayReplace: false };
  const { in: input, err } = deps.streams;
  if (!input.isTTY || !err.isTTY || log.isJson)
    throw new UsageError(`--login: there is a profile "${name}" already (${saved.base_url})`, {
      hint: "use another name with --login NAME",
    });
  await confirm(deps, `Replace profile "${name}" (${saved.base_url})?`, "Nothing was saved.");
  return { name, mayReplace: true };
}

async function whyNoKey(deps: Deps, { store, data }: NewService): Promise<string | null> {
  if (givenKey(deps) !== null) return "the key is the one in SURVEYCTL_API_KEY";
  if (store === null) return null;
  const { hasFirstKey } = await import("../../../service/first-project.ts");
  if (!(await asCliError(() => store.read((tx) => hasFirstKey(tx, null))))) return null;
  return `${data} has a key already, which cannot be shown again; surveyctl service key add makes another`;
}

/** If the profile can't be saved, only warns and returns null, because the key must still be shown. */
export async function saveLogin(
  deps: Deps,
  log: ServeLog,
  { name, mayReplace, url, key }: Login & { readonly url: string; readonly key: string },
): Promise<SavedLogin | null> {
  const file = configFile(deps);
  try {
    const { defaultName } = await changeProfiles(deps, ({ defaultName: before, byName }) => {
      if (byName.has(name) && !mayReplace) throw new UsageError(`there is a profile "${name}" by now`);
      const profile = { base_url: url, api_key: key, access: "full" } as const;
      return { defaultName: before ?? name, byName: new Map([...byName, [name, profile]]) };
    });
    return { name, isDefault: defaultName === name, file };
  } catch (error) {
    const problem = error instanceof UsageError ? error.message : systemErrorText(error);
    log.warn("no_profile_saved", { message: `no profile was saved: ${file}: ${problem}` });
    return null;
  }
}
