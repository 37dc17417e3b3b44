import type { SettingsRequest } from "../../config/settings.ts";
import type { Deps } from "./deps.ts";

/** What the connection of a command line is looked up with. */
export function settingsRequest({ env, platform, signal, options }: Deps): SettingsRequest {
  const { profile, baseUrl, insecureHttp } = options;
  return { env, platform, signal, flags: { profile, baseUrl }, insecureHttp };
}
