import { parseBaseUrl } from "./base-url.ts";
import { ConfigError } from "./config-error.ts";
import { runKeyCommand } from "./key-command.ts";
import { keyProblem } from "./pasted.ts";
import { configFile, type HostContext } from "./places.ts";
import type { Profile } from "./profiles.ts";

export interface Sourced<Value> {
  readonly value: Value;
  /** Where the value came from, for messages: a flag, `SURVEYCTL_API_KEY` or `profile prod`. */
  readonly source: string;
}

export interface RemoteConnection {
  readonly kind: "remote";
  readonly profile: Sourced<string> | null;
  readonly baseUrl: Sourced<string>;
  readonly apiKey: Sourced<string>;
  readonly warning: string | null;
}

export type ConnectionSettings = { readonly kind: "local" } | RemoteConnection;

export interface SettingsRequest extends HostContext {
  readonly flags: { readonly profile: Sourced<string> | null; readonly baseUrl: Sourced<string> | null };
  readonly insecureHttp: boolean;
  readonly signal?: AbortSignal;
}

export const LOCAL_PROFILE = "local";

/** Throws ConfigError: `missing` (exit 4) or `invalid` (exit 2). */
export async function resolveConnection(request: SettingsRequest): Promise<ConnectionSettings> {
  const named = nameProfile(request);
  if (named?.value === LOCAL_PROFILE) {
    const { baseUrl } = request.flags;
    if (baseUrl === null) return { kind: "local" };
    throw new ConfigError("invalid", `${baseUrl.source} and the profile local cannot be used together`);
  }
  const { readProfiles } = await import("./profiles.ts");
  const profiles = await readProfiles(configFile(request));
  const { defaultName } = profiles;
  const name = named ?? (defaultName === null ? null : { value: defaultName, source: "the default profile" });
  const profile = name === null ? undefined : profiles.byName.get(name.value);
  const own = name === null || profile === undefined ? null : { profile, source: `profile ${name.value}` };
  const saved = [...profiles.byName.keys()];
  if (named !== null && own === null) throw unknownProfile(named, saved);
  const baseUrl = givenBaseUrl(request) ?? (own === null ? null : { value: own.profile.base_url, source: own.source });
  if (baseUrl !== null && own !== null) checkOrigin(request, baseUrl, own);
  const apiKey = await findKey(request, own, profiles.untrusted);
  if (baseUrl === null || apiKey === null)
    throw name !== null && own === null ? unknownProfile(name, saved) : missing(baseUrl, apiKey, saved);
  const value = parseBaseUrl(baseUrl.value, baseUrl.source, { allowHttp: request.insecureHttp });
  const problem = keyProblem(apiKey.value);
  if (problem !== null) throw new ConfigError("invalid", `${apiKey.source}: the key ${problem}`);
  return {
    kind: "remote",
    profile: own === null ? null : name,
    baseUrl: { ...baseUrl, value },
    apiKey,
    warning: profiles.warning,
  };
}

export function usedProfile({ profile, baseUrl, apiKey }: RemoteConnection): string | null {
  if (profile === null) return null;
  const isUsed = [baseUrl, apiKey].some(({ source }) => source.endsWith(`profile ${profile.value}`));
  return isUsed ? profile.value : null;
}

type Given = Pick<SettingsRequest, "flags" | "env">;

export function nameProfile({ flags, env }: Given): Sourced<string> | null {
  return flags.profile ?? fromVariable(env, "SURVEYCTL_PROFILE");
}

export function givenBaseUrl({ flags, env }: Given): Sourced<string> | null {
  return flags.baseUrl ?? fromVariable(env, "SURVEYCTL_BASE_URL");
}

function fromVariable(env: HostContext["env"], name: string): Sourced<string> | null {
  const value = env[name] ?? "";
  return value === "" ? null : { value, source: name };
}

interface SavedProfile {
  readonly profile: Profile;
  readonly source: string;
}

/** A profile's key is sent only to the profile's own origin. */
function checkOrigin(request: SettingsRequest, baseUrl: Sourced<string>, { profile, source }: SavedProfile): void {
  if (keyVariable(request) !== null || givenBaseUrl(request) === null) return;
  const wanted = new URL(parseBaseUrl(baseUrl.value, baseUrl.source, { allowHttp: request.insecureHttp })).origin;
  const own = new URL(parseBaseUrl(profile.base_url, source, { allowHttp: true })).origin;
  if (wanted === own) return;
  throw new ConfigError(
    "missing",
    `refusing to send the API key of ${source} to ${wanted} (${baseUrl.source}); it belongs to ${own}`,
    { code: "set_own_key" },
  );
}

function keyVariable({ env }: SettingsRequest): string | null {
  const variable = (env["SURVEYCTL_API_KEY"] ?? "").trim();
  return variable === "" ? null : variable;
}

async function findKey(
  request: SettingsRequest,
  own: SavedProfile | null,
  untrusted: string | null,
): Promise<Sourced<string> | null> {
  const variable = keyVariable(request);
  if (variable !== null) return { value: variable, source: "SURVEYCTL_API_KEY" };
  if (own === null) return null;
  const { profile, source } = own;
  if ("api_key" in profile) {
    const value = profile.api_key.trim();
    return value === "" ? null : { value, source };
  }
  // Anyone who can write to the file could run any command.
  if (untrusted !== null)
    throw new ConfigError("invalid", `refusing to run the key command of ${source}: ${untrusted}`, {
      code: "protect_file",
    });
  const value = await runKeyCommand(profile.key_command, request.platform, request.signal);
  return { value, source: `key command of ${source}` };
}

function missing(
  baseUrl: Sourced<string> | null,
  apiKey: Sourced<string> | null,
  saved: readonly string[],
): ConfigError {
  if (baseUrl === null && apiKey === null && saved.length > 0)
    return new ConfigError("missing", "no default profile is set", { code: "choose_default", saved });
  if (baseUrl === null && apiKey === null)
    return new ConfigError("missing", "no connection is configured", { code: "connect" });
  const message = baseUrl === null ? "a key is given, but no base URL" : `there is no API key for ${baseUrl.value}`;
  return new ConfigError("missing", message, { code: baseUrl === null ? "set_base_url" : "set_key" });
}

function unknownProfile({ value, source }: Sourced<string>, names: readonly string[]): ConfigError {
  const known = [...names, LOCAL_PROFILE];
  const advice = { code: "unknown_profile", given: value, known, mayCreate: true } as const;
  return new ConfigError("missing", `${source}: there is no profile "${value}"`, advice);
}
