/** Columns of results, each table as its command prints it. */
import { type ColumnKind, pathColumn, type Resource } from "../../render/columns.ts";

export function toResource(
  noun: string,
  columns: Readonly<Record<string, ColumnKind>>,
  dropFirst: readonly string[] = [],
): Resource {
  const names = Object.keys(columns);
  return { noun, columns: names.map((name) => pathColumn(name, columns[name])), table: names, dropFirst, fields: [] };
}

export const DELIVERIES = toResource(
  "surveys",
  {
    id: "id",
    channel: "text",
    email: "text",
    phone_number: "phone",
    state: "status",
    reason: "text",
    due_at: "time",
    sent_at: "time",
    attempts: "number",
  },
  ["phone_number", "channel", "attempts", "sent_at"],
);
export const REMOVED = toResource("rows", { id: "id" });
