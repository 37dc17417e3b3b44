import { homedir } from "node:os";
import path from "node:path";

export interface HostContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: string;
}

const APPLICATION = "surveyctl";

export function configFile(host: HostContext): string {
  return path.join(baseFolder(host, "XDG_CONFIG_HOME", ".config", "APPDATA"), APPLICATION, "config.json");
}

export function localDataFile(host: HostContext): string {
  return path.join(baseFolder(host, "XDG_DATA_HOME", ".local/share", "LOCALAPPDATA"), APPLICATION, "local.db");
}

function baseFolder({ env, platform }: HostContext, xdg: string, unixDefault: string, windows: string): string {
  const named = env[xdg];
  if (named !== undefined && path.isAbsolute(named)) return named;
  const home = env["HOME"] !== undefined && env["HOME"] !== "" ? env["HOME"] : systemHome();
  if (platform === "win32") return env[windows] ?? path.join(home, "AppData", "Roaming");
  if (platform === "darwin") return path.join(home, "Library", "Application Support");
  return path.join(home, unixDefault);
}

/** Falls back to `/` for a uid with no passwd entry, which is common in containers. */
function systemHome(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}
