/** What the `service` commands show, as columns. */
import { pathColumn, type ColumnKind, type Resource } from "../../render/columns.ts";

function resource(
  noun: string,
  columns: Readonly<Record<string, ColumnKind>>,
  dropFirst: readonly string[] = [],
): Resource {
  const names = Object.keys(columns);
  return { noun, columns: names.map((name) => pathColumn(name, columns[name])), table: names, dropFirst, fields: [] };
}

export const PROJECTS = resource(
  "projects",
  { id: "id", name: "text", people: "number", responses: "number", throttle: "duration", created_at: "time" },
  ["created_at", "throttle"],
);
export const NEW_PROJECT = resource("projects", { id: "id", name: "text", key: "text" });
export const KEYS = resource("keys", { id: "id", last_four: "text", created_at: "time" });
export const NEW_KEY = resource("keys", { id: "id", key: "text" });
export const THROTTLE = resource("settings", { throttle: "duration" });
export const TRENDS = resource("trends", { id: "id", name: "text", where: "text", created_at: "time" }, ["created_at"]);
export const REMOVED = resource("rows", { id: "id" });
