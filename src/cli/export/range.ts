import type { CursorList, PageList, Range } from "../../bulk/export/lists.ts";
import type { Client } from "../../client/client.ts";
import type { CommandNode } from "../kit/command-node.ts";
import { defineCommand } from "../kit/define-command.ts";
import { timeRange } from "../kit/time-flags.ts";
import type { Resource } from "../render/columns.ts";
import { EXPORT_EXITS, exportFile, type ExportRequest, type ExportSource, textOfFilters } from "./request.ts";
import { keysOf } from "./sources.ts";

export interface RangeExport {
  readonly command: string;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly what: string;
  readonly resource: Resource;
  readonly idField: string;
  readonly timeField: string;
  readonly list: (client: Client, perPage: number) => PageList | CursorList;
}

export function exportRange(rows: RangeExport): CommandNode {
  const { summary, examples, what, resource } = rows;
  return defineCommand({
    name: "export",
    summary,
    examples,
    exits: EXPORT_EXITS,
    flags: { range: timeRange(what), filterText: textOfFilters("--since", "--until"), file: exportFile("new") },
    columns: resource,
    run: async (deps, { range, file, filterText }) => {
      const { exportList } = await import("./list.ts");
      return exportList(deps, toRangeRequest(rows, range, filterText), file);
    },
  });
}

export function toRangeRequest(
  { command, resource, idField, timeField, list }: Omit<RangeExport, "summary" | "examples" | "what">,
  range: Range,
  filterText: string,
): ExportRequest {
  const { id, at } = keysOf(idField, timeField);
  // A person can bounce twice.
  const source: ExportSource = { list, keys: { id: (row) => `${id(row)} ${at(row)}`, at }, range };
  return {
    command,
    resource,
    source,
    filterText,
    incremental: {
      source: (since) => ({ ...source, range: { since: Math.max(since, range.since ?? since), until: range.until } }),
      unstamped: null,
      versions: { id, at: (row) => at(row) ?? 0, content: () => "" },
      watermark: (now) => Math.min(now, range.until ?? now),
    },
    count: null,
    flat: null,
  };
}
