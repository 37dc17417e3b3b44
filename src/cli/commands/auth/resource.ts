import { pathColumn, type Resource } from "../../render/columns.ts";

/** What `auth status` shows. The key itself is never among it. */
export const STATUS: Resource = {
  noun: "settings",
  columns: ["profile", "profile_source", "base_url", "base_url_source", "api_key", "api_key_source", "status"].map(
    (name) => pathColumn(name, "text"),
  ),
  table: ["profile", "profile_source", "base_url", "base_url_source", "api_key", "api_key_source", "status"],
  dropFirst: [],
  fields: [],
};

/** What `auth list` shows, under the names that `auth status` has. */
export const PROFILES: Resource = {
  noun: "profiles",
  columns: ["profile", "base_url", "api_key", "api_key_source", "default"].map((name) => pathColumn(name, "text")),
  table: ["profile", "base_url", "api_key", "default"],
  dropFirst: ["api_key"],
  fields: [],
};

const SHOWN = 4;

/** A key as it may be shown: its last four characters, and of a short one nothing. */
export function maskKey(key: string): string {
  return key.length > SHOWN * 2 ? `…${key.slice(-SHOWN)}` : "…";
}
