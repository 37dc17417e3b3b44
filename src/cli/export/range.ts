/** Exports of rows that have one time, which never changes: bounces and unsubscribes as data, and people. */
import type { Command } from "commander";
import type { CursorList, PageList, Range } from "../../bulk/export/lists.ts";
import type { Client } from "../../client/client.ts";
import type { Deps } from "../command/deps.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Resource } from "../render/columns.ts";
import type { CommandContext } from "../command/command-context.ts";
import { rangeFlags, readRange } from "../command/time-flags.ts";
import {
  describeFilters,
  EXPORT_EXITS,
  exportFlags,
  readExportFlags,
  type ExportRequest,
  type ExportSource,
  type RangeExportOptions,
} from "./request.ts";
import { keysOf } from "./sources.ts";

export interface RangeExport {
  /** As typed: `people export`. */
  readonly command: string;
  readonly summary: string;
  readonly examples: readonly string[];
  /** The event at the time that `--since` and `--until` are about: "created". */
  readonly what: string;
  readonly resource: Resource;
  readonly idField: string;
  readonly timeField: string;
  readonly list: (client: Client, perPage: number) => PageList | CursorList;
}

export function registerRangeExport(noun: Command, context: CommandContext, rows: RangeExport): void {
  const { summary, examples, what } = rows;
  const command = context.verb(noun, {
    name: "export",
    summary,
    examples,
    exits: EXPORT_EXITS,
    flags: [...rangeFlags(what), ...exportFlags({ later: "new" })],
    columns: rows.resource,
  });
  context.action(command, (deps, flags) => {
    const filterText = describeFilters(flags, ["--since", "--until"]);
    return runRangeExport(deps, rows, { flags: readExportFlags(flags), ...readRange(deps, flags), filterText });
  });
}

export async function runRangeExport(
  deps: Deps,
  rows: RangeExport,
  { flags, since, until, filterText }: RangeExportOptions,
): Promise<ExitCode> {
  const { exportList } = await import("./list.ts");
  return exportList(deps, toRangeRequest(rows, { since, until }, filterText), flags);
}

/** As the export of such rows begins; a command may add to it. */
export function toRangeRequest(
  { command, resource, idField, timeField, list }: Omit<RangeExport, "summary" | "examples" | "what">,
  range: Range,
  filterText: string,
): ExportRequest {
  const { id, at } = keysOf(idField, timeField);
  // A person who bounced twice has two rows.
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
